import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Dirent,
  type Stats,
} from 'node:fs'
import { hasCode, HAS_PROC } from '../files/walked-folder.ts'
import { isSameStamp, stampOf } from './known-folder.ts'
import { nameOf } from './names.ts'
import type { UncoveredReason } from '../../model/events/snapshot-entry.ts'

// Synchronous: thousands of these calls run in a row, and a thread would cost several times as much as the system.

/** Larger files are not covered. */
export const MOST_FILE_BYTES = 100 * 1024 * 1024

type Path = string | Buffer

/** Of the entry itself; `undefined` if it does not exist, or cannot be asked about. */
export function factsOf(path: Path): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export type CoveredContent =
  | { readonly bytes: Buffer; readonly facts: Stats }
  | { readonly why: UncoveredReason | 'gone' }

/**
 * The content of a regular file, with the facts of the state that was read. Follows no link and blocks on nothing; what is at
 * another place than the path says counts as gone, because something on the way was swapped.
 */
export function readCovered(path: Path): CoveredContent {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let descriptor: number
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    return { why: hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP') ? 'gone' : 'unreadable' }
  }
  try {
    if (!isAt(descriptor, path)) return { why: 'gone' }
    for (let tries = 1; ; tries++) {
      const before = fstatSync(descriptor)
      if (!before.isFile()) return { why: 'not_regular_file' }
      if (before.size > MOST_FILE_BYTES) return { why: 'too_large' }
      const bytes = readAll(descriptor, before.size)
      const after = fstatSync(descriptor)
      const isWhole = bytes.length === after.size && isSameStamp(stampOf(before), stampOf(after))
      if (isWhole || tries === MOST_TRIES) return { bytes, facts: after }
    }
  } catch {
    return { why: 'unreadable' }
  } finally {
    closeSync(descriptor)
  }
}

/** A file that something writes to all the time is read this often. */
const MOST_TRIES = 3

export function targetOf(path: Path): string | undefined {
  try {
    return nameOf(readlinkSync(path, 'buffer'))
  } catch {
    return undefined
  }
}

/** The entries of a folder; `undefined` if it cannot be listed, or is at another place than the path says. */
export function entriesOf(path: Path): readonly Dirent<Buffer>[] | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY } = constants
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_DIRECTORY)
    if (!isAt(descriptor, path)) return undefined
    const place = HAS_PROC ? `/proc/self/fd/${descriptor}` : path
    return readdirSync(place, { withFileTypes: true, encoding: 'buffer' })
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function isAt(descriptor: number, path: Path): boolean {
  if (!HAS_PROC) return true
  const where = readlinkSync(`/proc/self/fd/${descriptor}`, 'buffer')
  return where.equals(typeof path === 'string' ? Buffer.from(path) : path)
}

/** One byte more than expected, to notice that it grew. */
function readAll(descriptor: number, size: number): Buffer {
  const into = Buffer.allocUnsafe(size + 1)
  let done = 0
  while (done < into.length) {
    const count = readSync(descriptor, into, done, into.length - done, done)
    if (count === 0) break
    done += count
  }
  return into.subarray(0, done)
}
