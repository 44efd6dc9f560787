import {
  asResult,
  closing,
  FileFailure,
  isMissing,
  readSpan,
  removeTemporaries,
  type File,
  type Folder,
} from '../host/files.ts'
import { ok, type Failed, type Result } from '../model/errors.ts'
import type { BlobKey } from '../model/ids.ts'
import type { BlobStore } from './store.ts'

/** What a sweep did, or with `dryRun` would do. */
export interface Swept {
  readonly kept: number
  readonly deleted: readonly BlobKey[]
  readonly freed_bytes: number
}

export interface SweepOptions {
  /** Folders whose every file may mention a blob: Logs, torn pieces and hidden parents, staged uploads, frame logs. */
  readonly mentions: readonly Folder[]
  /** Blobs put after this time are left alone whatever mentions them: someone may be about to. */
  readonly olderThan: number
  /** Folders besides the store's from which abandoned temporary files go too. */
  readonly tidy?: readonly Folder[]
  readonly dryRun: boolean
}

/**
 * Deletes blobs that nothing mentions. Mentions are found in raw bytes, never by parsing: 64 hex digits keep every blob
 * of that hash, wherever they stand, in whatever a damaged or newer file says. If anything cannot be read, nothing is
 * deleted.
 */
export async function sweepBlobs(store: BlobStore, options: SweepOptions): Promise<Result<Swept>> {
  return asResult('look for what mentions blobs', async () => {
    // Listed first: a blob that comes later is not a candidate at all.
    const keys = await store.list()
    if (!keys.ok) return keys
    const marks = new Marks(keys.value)
    for (const folder of options.mentions) await markFolder(folder, marks)
    const unread = await markFromBlobs(store, marks)
    if (unread !== undefined) return unread
    if (!options.dryRun) {
      const tidied = await store.tidy(options.olderThan)
      if (!tidied.ok) return tidied
      for (const folder of options.tidy ?? []) await removeTemporaries(folder, options.olderThan)
    }
    return deleteOld(store, marks, keys.value.length, options)
  })
}

async function deleteOld(
  store: BlobStore,
  marks: Marks,
  total: number,
  { olderThan, dryRun }: SweepOptions,
): Promise<Result<Swept>> {
  const deleted: BlobKey[] = []
  let freed = 0
  for (const key of marks.unmarked()) {
    const facts = await store.stat(key)
    // Another sweep was quicker, or it is no blob at all: neither is ours to delete.
    if (!facts.ok && NOT_OURS.has(facts.error.kind)) continue
    if (!facts.ok) return facts
    if (facts.value.putAt > olderThan) continue
    const gone = dryRun ? ok(true) : await store.delete(key, olderThan)
    if (!gone.ok) return gone
    if (!gone.value) continue
    deleted.push(key)
    freed += facts.value.size
  }
  return ok({ kept: total - deleted.length, deleted, freed_bytes: freed })
}

const NOT_OURS: ReadonlySet<string> = new Set(['resource_missing', 'not_regular_file'])

/** Every file below the folder, whatever it is called; also those that get a new name meanwhile. */
async function markFolder(folder: Folder, marks: Marks): Promise<void> {
  const seen = new Set<string>()
  for (let names = await folder.names(); names.length > 0;) {
    for (const name of names) {
      seen.add(name)
      await markEntry(folder, name, marks).catch((error: unknown) => {
        if (!isMissing(error)) throw error
      })
    }
    names = (await folder.names()).filter((name) => !seen.has(name))
  }
}

async function markEntry(folder: Folder, name: string, marks: Marks): Promise<void> {
  const file = await folder.open(name, 'read').catch((error: unknown) => {
    if (error instanceof FileFailure && error.code === 'NOT_REGULAR') return undefined
    throw error
  })
  if (file === undefined) {
    const below = await folder.folder(name, 'open')
    return closing(below, () => markFolder(below, marks))
  }
  await closing(file, () => marks.scan(pieces(file)))
}

async function* pieces(file: File): AsyncGenerator<Buffer> {
  for (let at = 0; ; at += PIECE_BYTES) {
    const piece = await readSpan(file, at, PIECE_BYTES)
    if (piece.length > 0) yield piece
    if (piece.length < PIECE_BYTES) return
  }
}

/** A field too long for a line stands in a blob, and may mention others, which may mention others. */
async function markFromBlobs(store: BlobStore, marks: Marks): Promise<Failed | undefined> {
  for (let key = marks.nextText(); key !== undefined; key = marks.nextText()) {
    const blob = await store.open(key)
    if (!blob.ok) return blob
    await closing(blob.value, (opened) => marks.scan(opened.read()))
  }
  return undefined
}

const PIECE_BYTES = 256 * 1024
const HASH_DIGITS = 64

/** Which of the blobs there are were mentioned. Holds hashes of blobs only, however many digits the files hold. */
class Marks {
  readonly #unmarked = new Map<string, BlobKey[]>()
  readonly #textsToRead: BlobKey[] = []

  constructor(keys: readonly BlobKey[]) {
    for (const key of keys) {
      const hash = key.slice(0, HASH_DIGITS)
      this.#unmarked.set(hash, [...(this.#unmarked.get(hash) ?? []), key])
    }
  }

  unmarked(): BlobKey[] {
    return [...this.#unmarked.values()].flat()
  }

  /** A marked blob that may itself mention blobs, each once. */
  nextText(): BlobKey | undefined {
    return this.#textsToRead.pop()
  }

  async scan(bytes: AsyncIterable<Buffer>): Promise<void> {
    let carry = ''
    for await (const piece of bytes) {
      const text = carry + piece.toString('latin1')
      for (const [run] of text.matchAll(/[0-9a-fA-F]{64,}/g)) this.#markRun(run.toLowerCase())
      // A mention across the border of two pieces is whole in the second.
      carry = text.slice(-(HASH_DIGITS - 1))
    }
  }

  /** Digits may stand before and after a hash, so every place of the run is tried. */
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
