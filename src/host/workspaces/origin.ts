import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { isFolderThere } from '../files/folder-identity.ts'
import { ENTRY_BYTES, entryName, entryOf, REGISTER } from './entry.ts'
import { factsAt, realPathOf } from '../files/look.ts'

/**
 * Where the `.hawser` of a folder comes from: `none` is there, or this home `created` it, or it was there before and this
 * home `adopted` it when a person opened the folder, or it is `unknown` here: a repository, a program or another home
 * created it.
 */
export type WorkspaceOrigin = 'none' | 'created' | 'adopted' | 'unknown'

export interface OriginFacts {
  readonly origin: WorkspaceOrigin
  /** The register has an entry for this `.hawser` that identifies its folder. */
  readonly isRegistered: boolean
}

/**
 * Decides by what only this home can write: an entry of the register that is not older than the `.hawser`, or a head that
 * matches one of the Logs. Names and owners prove nothing: a command of a model can create a folder like ours. Never
 * throws.
 *
 * Synchronous: every start asks this, the system answers from memory, and a thread would cost ten times as much.
 */
export function originOf(workspace: string, hawserHome: string): OriginFacts {
  const place = factsAt(join(workspace, '.hawser'))
  if (place === undefined) return { origin: 'none', isRegistered: false }
  if (!place.isDirectory() || place.uid !== process.geteuid?.() || hawserHome === '')
    return { origin: 'unknown', isRegistered: false }
  const entry = registeredEntry(workspace, hawserHome)
  const isAdopted = entry?.isAdopted === true
  if (entry !== undefined && entry.writtenMs + ANNOUNCED_MS >= place.birthtimeMs)
    return { origin: isAdopted ? 'adopted' : 'created', isRegistered: entry.hasIdentity }
  if (!hasVouchedLog(join(workspace, '.hawser', 'sessions'), join(hawserHome, 'heads')))
    return { origin: 'unknown', isRegistered: false }
  return { origin: isAdopted ? 'adopted' : 'created', isRegistered: false }
}

/** Whether a folder is a workspace of this home, by its origin. */
export function isOwn({ origin }: OriginFacts): boolean {
  return origin === 'created' || origin === 'adopted'
}

/** Whether a `.hawser` has anything that a model or a person would use: settings or Logs. */
export function hasContents(workspace: string): boolean {
  const own = join(workspace, '.hawser')
  return factsAt(join(own, 'config.json')) !== undefined || logsIn(join(own, 'sessions')).length > 0
}

/**
 * The entry is written before the folder is created, so that no other process takes the folder for the work of a command.
 * The time in between is far shorter than this. A later folder at the same path has to be opened by a person first. Where
 * the file system does not record when a folder was created, that time is 0, and the path alone decides.
 */
const ANNOUNCED_MS = 10_000

interface FoundEntry {
  readonly isAdopted: boolean
  /** Entries of older versions have only the path. */
  readonly hasIdentity: boolean
  readonly writtenMs: number
}

function registeredEntry(workspace: string, hawserHome: string): FoundEntry | undefined {
  for (const path of new Set([workspace, realPathOf(workspace) ?? workspace])) {
    const file = withOpenFile(join(hawserHome, REGISTER, entryName(path)), (fd, facts) => ({
      entry: entryOf(readAt(fd, 0, Math.min(facts.size, ENTRY_BYTES))),
      writtenMs: facts.mtimeMs,
    }))
    if (file?.entry?.path !== path) continue
    const { adopted = false, folder } = file.entry
    // Another folder was moved to its path.
    if (folder !== undefined && !isFolderThere(folder)) continue
    return { isAdopted: adopted, hasIdentity: folder !== undefined, writtenMs: file.writtenMs }
  }
  return undefined
}

/** The number of heads that are compared, so that a folder full of planted Logs does not delay the start. */
const MOST_HEADS = 50

/**
 * Whether this home wrote one of the Logs: the line of its head is where the head says, with its hash (docs/spec/log.md).
 * A command cannot read our Logs, so it cannot copy one.
 */
function hasVouchedLog(sessions: string, heads: string): boolean {
  let compared = 0
  for (const name of logsIn(sessions)) {
    const head = headIn(join(heads, name.slice(0, -LOG.length)))
    if (head === undefined) continue
    compared += 1
    if (withOpenFile(join(sessions, name), (fd, facts) => hasLine(fd, facts, head)) === true)
      return true
    if (compared === MOST_HEADS) return false
  }
  return false
}

const LOG = '.ndjson'

function logsIn(sessions: string): readonly string[] {
  // A link in place of the folder would lead to the Logs of another workspace.
  if (factsAt(sessions)?.isDirectory() !== true) return []
  try {
    return readdirSync(sessions).filter((name) => /^ses_[0-9a-z]+\.ndjson$/.test(name))
  } catch {
    return []
  }
}

interface Head {
  readonly hash: string
  /** After the newline of its line. */
  readonly offset: number
}

const HEAD_BYTES = 4096

function headIn(path: string): Head | undefined {
  const text = withOpenFile(path, (fd, { size }) => readAt(fd, 0, Math.min(size, HEAD_BYTES)))
  try {
    const head: unknown = JSON.parse(text?.toString('utf8') ?? '')
    if (typeof head !== 'object' || head === null || !('hash' in head) || !('offset' in head))
      return undefined
    const { hash, offset } = head
    if (typeof hash !== 'string' || typeof offset !== 'number' || !(offset > 0)) return undefined
    return { hash, offset }
  } catch {
    return undefined
  }
}

const LINE_BYTES = 1_048_576
const NEWLINE = 0x0a

function hasLine(fd: number, { size }: Stats, { hash, offset }: Head): boolean {
  if (size < offset) return false
  const from = Math.max(0, offset - LINE_BYTES - 2)
  const bytes = readAt(fd, from, offset - from)
  if (bytes.at(-1) !== NEWLINE) return false
  const line = bytes.subarray(bytes.lastIndexOf(NEWLINE, -2) + 1, -1)
  return createHash('sha256').update(line).digest('hex') === hash
}

/** The result of `work` with a regular file of at most one name; `undefined` for anything else. Never blocks, follows no link. */
function withOpenFile<T>(path: string, work: (fd: number, facts: Stats) => T): T | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let fd: number | undefined
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const facts = fstatSync(fd)
    return facts.isFile() && facts.nlink === 1 ? work(fd, facts) : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position))
}
