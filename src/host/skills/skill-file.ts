import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { EntryKind } from '../../model/error-cause.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { kindOf } from '../files/confined-read.ts'
import { FileFailure, fileFailure } from '../files/files.ts'

/** Where a SKILL.md is. */
export interface SkillPlace {
  /** An absolute folder; links on the way to it are followed. */
  readonly start: string
  /** The folders from there to that of the Skill; links are not followed. */
  readonly below: readonly string[]
  /** Whether the file may be a link, or have a second name. */
  readonly mayLink: boolean
}

/** A file as the file system knows it. */
export interface SkillFileFacts {
  /** Changes whenever the content does, if the two changes are further apart than the clock of a file system is coarse. */
  readonly key: string
  /** When the file or its name last changed. */
  readonly changedMs: number
  /** It is a link that was followed. */
  readonly isLink: boolean
}

export interface SkillFile {
  readonly bytes: Buffer
  readonly facts: SkillFileFacts
}

export const SKILL_FILE = 'SKILL.md'

/** The path of the folder of a Skill. */
export function folderOf({ start, below }: SkillPlace): string {
  return below.length === 0 ? start : `${start}/${below.join('/')}`
}

/** What is there now, without opening it: a regular file of at most `limit` bytes, or why it is not one. */
export function skillFileFacts(place: SkillPlace, limit: number): Result<SkillFileFacts> {
  const path = `${folderOf(place)}/${SKILL_FILE}`
  return result(() => {
    const itself = lstatSync(path)
    const isLink = place.mayLink && itself.isSymbolicLink()
    const facts = isLink ? statSync(path) : itself
    return judgeFile(place, facts, limit) ?? ok(skillFacts(facts, isLink))
  })
}

/**
 * Reads a SKILL.md: opened first, and judged and read by its descriptor. Never waits for a writer. `not_regular_file` for
 * a link, where those are not followed, and for anything but a file; `too_large` over `limit` bytes;
 * `unreadable` if its size changes meanwhile.
 */
export function readSkillFile(place: SkillPlace, limit: number): Result<SkillFile> {
  return result(() => {
    const fd = openPlace(place)
    try {
      const facts = fstatSync(fd)
      const refused = judgeFile(place, facts, limit)
      if (refused !== undefined) return refused
      const bytes = readUpTo(fd, facts.size + 1)
      if (bytes.length === facts.size) return ok({ bytes, facts: skillFacts(facts, false) })
      return failed('unreadable', `${SKILL_FILE} changed while it was read.`)
    } finally {
      closeSync(fd)
    }
  })
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants
const FOLDER = O_RDONLY | O_DIRECTORY | O_NONBLOCK
const FILE = O_RDONLY | O_NONBLOCK | O_NOCTTY

/** Enters folder by folder, each by the descriptor of the one before: a swapped folder cannot lead elsewhere. */
function openPlace({ start, below, mayLink }: SkillPlace): number {
  let folder = openSync(start, FOLDER)
  let path = start
  try {
    for (const name of below) {
      const next = openSync(join(baseOf(folder, path), name), FOLDER | O_NOFOLLOW)
      closeSync(folder)
      folder = next
      path = join(path, name)
    }
    return openSync(join(baseOf(folder, path), SKILL_FILE), mayLink ? FILE : FILE | O_NOFOLLOW)
  } finally {
    closeSync(folder)
  }
}

/** Without /proc, names resolve through the path. */
function baseOf(folder: number, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${folder}` : path
}

function judgeFile({ mayLink }: SkillPlace, facts: Stats, limit: number): Failed | undefined {
  const kind = kindOf(facts)
  if (kind !== 'file') return notRegular(kind)
  if (!mayLink && facts.nlink > 1) {
    return failed(
      'permission_denied',
      `${SKILL_FILE} has more than one hard link; another one may be elsewhere.`,
    )
  }
  return facts.size > limit ? skillTooLarge(limit) : undefined
}

function skillTooLarge(limit: number): Failed {
  return failed('too_large', `${SKILL_FILE} has more than ${limit} bytes.`, { limit })
}

function notRegular(found: EntryKind): Failed {
  return failed('not_regular_file', `${SKILL_FILE} is not a regular file but a ${found}.`, {
    found,
  })
}

/** Numbers are precise to a quarter of a microsecond, and half as expensive as integers of 64 bits. */
function skillFacts({ dev, ino, size, mtimeMs, ctimeMs }: Stats, isLink: boolean): SkillFileFacts {
  return { key: `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`, changedMs: ctimeMs, isLink }
}

function readUpTo(fd: number, most: number): Buffer {
  const into = Buffer.allocUnsafe(most)
  let got = 0
  while (got < most) {
    const count = readSync(fd, into, got, most - got, got)
    if (count === 0) break
    got += count
  }
  return into.subarray(0, got)
}

/** System errors as values. */
function result<T>(work: () => Result<T>): Result<T> {
  try {
    return work()
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    if (typeof code !== 'string' || code.startsWith('ERR_')) throw error
    return { ok: false, error: fileFailure(new FileFailure(code, code), `read ${SKILL_FILE}`) }
  }
}
