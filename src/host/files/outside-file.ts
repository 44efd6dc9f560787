import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, type FileHandle } from 'node:fs/promises'
import type { EntryKind } from '../../model/error-cause.ts'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import { kindOf } from './confined-read.ts'
import { asHostResult, closing } from './files.ts'
import { idOf } from './walked-folder.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants

/** Opens a path given by a person, wherever it leads, following no link at its end. May throw system errors. */
export interface OutsideFiles {
  open(path: string): Promise<OutsideHandle>
  /** The facts of the path itself, not followed. */
  look(path: string): Promise<OutsideFacts>
}

export interface OutsideHandle {
  stat(): Promise<OutsideFacts>
  /** Reads into `into` from `position`; returns the number of bytes, 0 at the end. May return fewer than requested. */
  read(into: Buffer, position: number): Promise<number>
  close(): Promise<void>
}

export type OutsideFacts = Pick<
  BigIntStats,
  | 'dev'
  | 'ino'
  | 'size'
  | 'nlink'
  | 'mtimeNs'
  | 'ctimeNs'
  | 'isFile'
  | 'isDirectory'
  | 'isSymbolicLink'
  | 'isFIFO'
  | 'isSocket'
>

/** An open regular file. */
export interface OutsideFile {
  /** The size when the file was opened. */
  readonly size: number
  /**
   * All bytes, in the memory of `into`; a file that does not fit is `too_large`. `no_match` with the cause `changed_since`
   * when the bytes may not be one version of the file, or the path now leads to another file. When `signal` is aborted, it
   * ends after the current read; `into` must not be used again then.
   */
  read(into: Buffer, signal: AbortSignal): Promise<Result<Buffer>>
}

/**
 * Runs `work` with the file at a path: opened once, checked and read through the same descriptor, then closed. Never blocks
 * on anything but a regular file. `not_regular_file` with the cause `found` for a link, pipe, socket, device or folder;
 * system errors as in `fileFailure`.
 */
export async function withOutsideFile<T>(
  files: OutsideFiles,
  path: string,
  work: (file: OutsideFile) => Promise<Result<T>>,
): Promise<Result<T>> {
  return asHostResult('read the file', async () => {
    return closing(await files.open(path), async (handle) => {
      const facts = await handle.stat()
      const found = kindOf(facts)
      if (found !== 'file') return notRegular(found)
      const read = (into: Buffer, signal: AbortSignal) =>
        readWhole(files, { path, handle, facts }, into, signal)
      return work({ size: Number(facts.size), read })
    })
  })
}

/** The files of this machine. */
export const outsideFiles: OutsideFiles = {
  // Opening a terminal must not make it the controlling terminal of this process.
  open: async (path) => handleOf(await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)),
  look: (path) => lstat(path, { bigint: true }),
}

function handleOf(handle: FileHandle): OutsideHandle {
  return {
    stat: () => handle.stat({ bigint: true }),
    read: async (into, position) => {
      const { bytesRead } = await handle.read(into, 0, into.length, position)
      return bytesRead
    },
    close: () => handle.close(),
  }
}

interface OpenedFile {
  readonly path: string
  readonly handle: OutsideHandle
  readonly facts: OutsideFacts
}

/** Read in pieces, so that an abort takes effect. */
const PIECE_BYTES = 1024 * 1024

async function readWhole(
  files: OutsideFiles,
  { path, handle, facts }: OpenedFile,
  into: Buffer,
  signal: AbortSignal,
): Promise<Result<Buffer>> {
  let got = 0
  while (got < into.length && !signal.aborted) {
    const count = await handle.read(into.subarray(got, got + PIECE_BYTES), got)
    if (count === 0) break
    got += count
  }
  if (signal.aborted) return failed('interrupted', 'Reading the file was interrupted.')
  if (got === into.length) return grownFile(got)
  const after = await handle.stat()
  if (hasChanged(facts, after) || BigInt(got) !== after.size) return changedSince()
  const there = await files.look(path).catch(() => undefined)
  if (there === undefined || idOf(there) !== idOf(after)) return changedSince()
  return ok(into.subarray(0, got))
}

function hasChanged(before: OutsideFacts, after: OutsideFacts): boolean {
  return (
    after.nlink === 0n ||
    before.size !== after.size ||
    before.mtimeNs !== after.mtimeNs ||
    before.ctimeNs !== after.ctimeNs
  )
}

function notRegular(found: EntryKind): Failed {
  const refused = failed('not_regular_file', 'It is not a regular file.', { found })
  return withCause(refused, { type: 'found', entry: found })
}

function grownFile(size: number): Failed {
  const refused = failed('too_large', `The file grew beyond ${size} bytes while it was read.`, {
    size,
  })
  return withCause(refused, { type: 'grown', size })
}

function changedSince(): Failed {
  const refused = failed('no_match', 'The file changed while it was read.', {
    reason: 'changed_since',
  })
  return withCause(refused, { type: 'changed_since' })
}
