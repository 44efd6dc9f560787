import { asResult, closing } from '../host/files/files.ts'
import type { RawSource } from '../host/files/raw-source.ts'
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
  /** Everything that may mention a blob: Logs, torn pieces and hidden parents, staged uploads, frames. */
  readonly mentions: readonly RawSource[]
  /**
   * Sessions that are being written now: what their Turns have stored but not mentioned yet looks unmentioned, and no clock
   * can distinguish it. While there is one, nothing is deleted.
   */
  readonly writing: () => Promise<readonly SessionId[]>
  /** Blobs stored after this time are kept even if unmentioned: a writer may be about to name them. */
  readonly olderThan: number
  /** Where else the remains of interrupted writes are removed. */
  readonly tidy?: readonly Pick<RawSource, 'tidy'>[]
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
    for (const source of options.mentions) {
      const unread = await source.each((_name, bytes) => marks.scan(bytes))
      if (unread !== undefined) return nothingDeleted(unread)
    }
    const unread = await markFromBlobs(store, marks)
    if (unread.length > 0) return unreadTexts(unread, options.mentions)
    if (!options.dryRun) {
      const tidied = await store.tidy(options.olderThan)
      if (!tidied.ok) return tidied
      for (const source of options.tidy ?? []) await source.tidy(options.olderThan)
    }
    return deleteOld(store, marks, facts.value, options)
  })
}

/**
 * The blobs of a store that these bytes and sources mention, also through the texts of other blobs. A text that cannot be read
 * mentions nothing. Fails if a source cannot be read.
 */
export async function mentionedBlobs(
  store: BlobStore,
  { bytes, sources }: BlobMentions,
): Promise<Result<readonly BlobKey[]>> {
  const keys = await store.list()
  if (!keys.ok) return keys
  const marks = new Marks(keys.value)
  for (const one of bytes) await marks.scan(one)
  for (const source of sources) {
    const unread = await source.each((_name, found) => marks.scan(found))
    if (unread !== undefined) return nothingDeleted(unread)
  }
  await markFromBlobs(store, marks)
  const unmarked = new Set(marks.unmarkedKeys())
  return ok(keys.value.filter((key) => !unmarked.has(key)))
}

/** Bytes that may mention blobs. */
export interface BlobMentions {
  readonly bytes: readonly AsyncIterable<Buffer>[]
  readonly sources: readonly RawSource[]
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
  for (const key of marks.unmarkedKeys()) {
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
  mentions: readonly RawSource[],
): Promise<Failed> {
  const sessions = new Set<SessionId>()
  for (const source of mentions) {
    await source.each(async (name, bytes) => {
      const marks = new Marks(unread.map(({ blob }) => blob))
      await marks.scan(bytes)
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
      action: 'Restore the blob from a backup of the workspace, then run gc again.',
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

function nothingDeleted({ error: { kind, message, details } }: Failed): Failed {
  return failed(kind, `Nothing was deleted. ${message}`, details, [
    { action: 'Make the file readable or move it away, then run gc again.', command: 'hawser gc' },
  ])
}

const HASH_DIGITS = 64

/** Tracks which existing blobs are mentioned. Stores hashes of existing blobs only, however many digits the files contain. */
class Marks {
  readonly #withoutMark = new Map<string, BlobKey[]>()
  readonly #textsToRead: BlobKey[] = []

  constructor(keys: readonly BlobKey[]) {
    for (const key of keys) {
      const hash = blobSha256(key)
      this.#withoutMark.set(hash, [...(this.#withoutMark.get(hash) ?? []), key])
    }
  }

  unmarkedKeys(): BlobKey[] {
    return [...this.#withoutMark.values()].flat()
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
      for (const key of this.#withoutMark.get(hash) ?? []) {
        if (/\.(json|txt|md|csv)$/.test(key)) this.#textsToRead.push(key)
      }
      this.#withoutMark.delete(hash)
    }
  }
}
