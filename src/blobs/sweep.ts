import {
  asResult,
  closing,
  fileFailure,
  FileFailure,
  isMissing,
  readSpan,
  removeTemporaries,
  type File,
  type Folder,
} from '../host/files/files.ts'
import { causeOf, failed, ok, type Failed, type Result } from '../model/errors.ts'
import { blobSha256, SessionId, type BlobKey } from '../model/ids.ts'
import type { BlobFacts, BlobStore } from './store.ts'

/** What a sweep did, or with `dryRun` would do. */
export interface SweepResult {
  readonly kept: number
  readonly deleted: readonly BlobKey[]
  readonly freed_bytes: number
  /** Sessions that were being written, so that nothing was deleted. */
  readonly writing: readonly SessionId[]
}

export interface SweepOptions {
  /** Folders in which every file may mention a blob: Logs, torn pieces and hidden parents, staged uploads, frame logs. */
  readonly mentions: readonly Folder[]
  /**
   * Sessions that are being written now: what their Turns have stored but not mentioned yet looks unmentioned, and no clock
   * can distinguish it. While there is one, nothing is deleted.
   */
  readonly writing: () => Promise<readonly SessionId[]>
  /** Blobs stored after this time are kept even if unmentioned: a writer may be about to name them. */
  readonly olderThan: number
  /** Further folders from which abandoned temporary files are removed. */
  readonly tidy?: readonly Folder[]
  readonly dryRun: boolean
}

/**
 * Deletes blobs that nothing mentions. Mentions are found in raw bytes, never by parsing: 64 hex digits anywhere keep every
 * blob of that hash, even in a damaged or newer file. If anything that may mention blobs cannot be read, no blob can be
 * proved unmentioned: nothing is deleted, and the error names all of it.
 */
export async function sweepBlobs(
  store: BlobStore,
  options: SweepOptions,
): Promise<Result<SweepResult>> {
  return asResult('find references to blobs', async () => {
    // Listed first: blobs stored later are not candidates.
    const keys = await store.list()
    if (!keys.ok) return keys
    // Read before the mentions: a blob whose time differs afterwards was renewed, and may have been mentioned since.
    const facts = await factsOf(store, keys.value)
    if (!facts.ok) return facts
    // After listing and before reading the Logs: a process that stored a listed blob, and mentions it after the Logs were
    // read, is writing now.
    const writing = await options.writing()
    if (writing.length > 0) {
      return ok({ kept: keys.value.length, deleted: [], freed_bytes: 0, writing })
    }
    const marks = new Marks(keys.value)
    for (const folder of options.mentions) {
      const unread = await eachFile(folder, (_name, file) => marks.scan(pieces(file)))
      if (unread !== undefined) return unread
    }
    const unread = await markFromBlobs(store, marks)
    if (unread.length > 0) return unreadTexts(unread, options.mentions)
    if (!options.dryRun) {
      const tidied = await store.tidy(options.olderThan)
      if (!tidied.ok) return tidied
      for (const folder of options.tidy ?? []) await removeTemporaries(folder, options.olderThan)
    }
    return deleteOld(store, marks, facts.value, options)
  })
}

/**
 * The blobs of a store that these files and the files of these folders mention, also through the texts of other blobs. A
 * text that cannot be read mentions nothing. Fails if a folder cannot be read.
 */
export async function mentionedBlobs(
  store: BlobStore,
  { files, folders }: { readonly files: readonly File[]; readonly folders: readonly Folder[] },
): Promise<Result<readonly BlobKey[]>> {
  const keys = await store.list()
  if (!keys.ok) return keys
  const marks = new Marks(keys.value)
  for (const file of files) await marks.scan(pieces(file))
  for (const folder of folders) {
    const unread = await eachFile(folder, (_name, file) => marks.scan(pieces(file)))
    if (unread !== undefined) return unread
  }
  await markFromBlobs(store, marks)
  const unmarked = new Set(marks.unmarked())
  return ok(keys.value.filter((key) => !unmarked.has(key)))
}

type Facts = ReadonlyMap<BlobKey, BlobFacts | undefined>

/** The facts of every key; `undefined` for a blob that another sweep deleted meanwhile, and for an entry that is not a blob. */
async function factsOf(store: BlobStore, keys: readonly BlobKey[]): Promise<Result<Facts>> {
  const facts = new Map<BlobKey, BlobFacts | undefined>()
  for (const key of keys) {
    const found = await store.stat(key)
    if (!found.ok && !NOT_OURS.has(found.error.kind)) return found
    facts.set(key, found.ok ? found.value : undefined)
  }
  return ok(facts)
}

async function deleteOld(
  store: BlobStore,
  marks: Marks,
  all: Facts,
  { olderThan, dryRun }: SweepOptions,
): Promise<Result<SweepResult>> {
  const deleted: BlobKey[] = []
  let freed = 0
  for (const key of marks.unmarked()) {
    const facts = all.get(key)
    if (facts === undefined || facts.putAt > olderThan) continue
    const gone = dryRun ? ok(true) : await store.delete(key, facts.putAt)
    if (!gone.ok && NOT_OURS.has(gone.error.kind)) continue
    if (!gone.ok) return gone
    if (!gone.value) continue
    deleted.push(key)
    freed += facts.size
  }
  return ok({ kept: all.size - deleted.length, deleted, freed_bytes: freed, writing: [] })
}

const NOT_OURS: ReadonlySet<string> = new Set(['resource_missing', 'not_regular_file'])

/** Visits every file below the folder, whatever its name, including files renamed meanwhile. */
async function eachFile(
  folder: Folder,
  visit: (name: string, file: File) => Promise<void>,
): Promise<Failed | undefined> {
  const seen = new Set<string>()
  for (let names = await folder.names(); names.length > 0;) {
    for (const name of names) {
      seen.add(name)
      const unread = await visitEntry(folder, name, visit).catch((error: unknown) => {
        return isMissing(error) ? undefined : unreadFile(`${folder.label}/${name}`, error)
      })
      if (unread !== undefined) return unread
    }
    names = (await folder.names()).filter((name) => !seen.has(name))
  }
  return undefined
}

async function visitEntry(
  folder: Folder,
  name: string,
  visit: (name: string, file: File) => Promise<void>,
): Promise<Failed | undefined> {
  const file = await folder.open(name, 'read').catch((error: unknown) => {
    if (error instanceof FileFailure && error.code === 'NOT_REGULAR') return undefined
    throw error
  })
  if (file === undefined) {
    const below = await folder.folder(name, 'open')
    return closing(below, () => eachFile(below, visit))
  }
  await closing(file, () => visit(name, file))
  return undefined
}

async function* pieces(file: File): AsyncGenerator<Buffer> {
  for (let at = 0; ; at += PIECE_BYTES) {
    const piece = await readSpan(file, at, PIECE_BYTES)
    if (piece.length > 0) yield piece
    if (piece.length < PIECE_BYTES) return
  }
}

/** A mentioned text blob that cannot be read, and why. */
interface UnreadText {
  readonly blob: BlobKey
  readonly state: 'missing' | 'damaged' | 'unreadable'
}

/** A field too long for a line is in a blob, which may mention further blobs. Returns the blobs that could not be read. */
async function markFromBlobs(store: BlobStore, marks: Marks): Promise<readonly UnreadText[]> {
  const unread: UnreadText[] = []
  for (let key = marks.nextText(); key !== undefined; key = marks.nextText()) {
    const blob = key
    const read = await asResult('read a blob', async () => {
      const opened = await store.open(blob)
      if (!opened.ok) return opened
      await closing(opened.value, (text) => marks.scan(text.read()))
      return ok(undefined)
    })
    if (read.ok) continue
    const cause = causeOf(read.error)
    unread.push({ blob, state: cause?.type === 'payload' ? cause.state : 'unreadable' })
  }
  return unread
}

/** The message names this many; `details` has all. */
const NAMED = 3

async function unreadTexts(
  unread: readonly UnreadText[],
  mentions: readonly Folder[],
): Promise<Failed> {
  const sessions = new Set<SessionId>()
  for (const folder of mentions) {
    await eachFile(folder, async (name, file) => {
      const marks = new Marks(unread.map(({ blob }) => blob))
      await marks.scan(pieces(file))
      const session = SessionId.safeParse(name.slice(0, name.indexOf('.'))).data
      if (marks.nextText() !== undefined && session !== undefined) sessions.add(session)
    })
  }
  const first = unread.slice(0, NAMED).map(({ blob, state }) => `${blob} (${state})`)
  const rest = unread.length - first.length
  const named = `${first.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
  const text =
    `Nothing was deleted: ${named} may refer to other blobs and cannot be read, ` +
    'so no blob is known to be unused.'
  return failed('resource_missing', text, { blobs: unread, sessions: [...sessions] }, [
    {
      action: 'Restore the blob in .hawser/blobs from a backup, then run gc again.',
      command: 'hawser gc',
    },
    ...[...sessions].slice(0, NAMED).flatMap((session) => [
      {
        action: 'Check what its Session can still verify.',
        command: `hawser log verify ${session} --requests`,
      },
      {
        action: 'Or delete that Session, then run gc again.',
        command: `hawser sessions delete ${session}`,
      },
    ]),
  ])
}

function unreadFile(path: string, error: unknown): Failed {
  const { kind, message, details } = fileFailure(error, `read ${path}, which may refer to blobs`)
  return failed(kind, `Nothing was deleted. ${message}`, { ...details, file: path }, [
    { action: 'Make the file readable or move it away, then run gc again.', command: 'hawser gc' },
  ])
}

const PIECE_BYTES = 256 * 1024
const HASH_DIGITS = 64

/** Tracks which existing blobs are mentioned. Stores hashes of existing blobs only, however many digits the files contain. */
class Marks {
  readonly #unmarked = new Map<string, BlobKey[]>()
  readonly #textsToRead: BlobKey[] = []

  constructor(keys: readonly BlobKey[]) {
    for (const key of keys) {
      const hash = blobSha256(key)
      this.#unmarked.set(hash, [...(this.#unmarked.get(hash) ?? []), key])
    }
  }

  unmarked(): BlobKey[] {
    return [...this.#unmarked.values()].flat()
  }

  /** The next marked blob that may itself mention blobs; each is returned once. */
  nextText(): BlobKey | undefined {
    return this.#textsToRead.pop()
  }

  async scan(bytes: AsyncIterable<Buffer>): Promise<void> {
    let carry = ''
    for await (const piece of bytes) {
      const text = carry + piece.toString('latin1')
      for (const [run] of text.matchAll(/[0-9a-fA-F]{64,}/g)) this.#markRun(run.toLowerCase())
      // A mention across two pieces is complete in the second.
      carry = text.slice(-(HASH_DIGITS - 1))
    }
  }

  /** A hash may be surrounded by further digits, so every offset of the run is tried. */
  #markRun(run: string): void {
    for (let at = 0; at + HASH_DIGITS <= run.length; at++) {
      const hash = run.slice(at, at + HASH_DIGITS)
      for (const key of this.#unmarked.get(hash) ?? []) {
        if (/\.(json|txt|md|csv)$/.test(key)) this.#textsToRead.push(key)
      }
      this.#unmarked.delete(hash)
    }
  }
}
