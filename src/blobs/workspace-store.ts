import { runningSha256 } from '../encoding/hash.ts'
import {
  asResult,
  closing,
  fileFailure,
  isMissing,
  publish,
  readSpan,
  writeAll,
  type File,
  type Folder,
} from '../host/files.ts'
import type { Clock } from '../host/clock.ts'
import type { Ids } from '../host/ids.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import { BLOB_EXTENSIONS, BlobKey, type BlobMediaType } from '../model/ids.ts'
import { underShortLock } from './short-lock.ts'
import type { BlobStore, OpenBlob } from './store.ts'

const PIECE_BYTES = 256 * 1024

/** What a store needs: its folder (`<workspace>/.hawser/blobs`), opened and judged by the caller, and the world. */
export interface StoreParts {
  readonly folder: Folder
  readonly ids: Ids
  readonly clock: Clock
}

/** Blobs as files of one folder of one workspace. */
export function workspaceBlobStore(parts: StoreParts): BlobStore {
  const { folder } = parts
  return {
    put: (bytes, mediaType) => put(parts, bytes, mediaType),
    get: (key) => withBlob(folder, key, (file, valid) => readWhole(file, valid)),
    open: (key) => openVerified(folder, key),
    stat: (key) =>
      withBlob(folder, key, async (file) => {
        const { size, changedAt } = await file.stat()
        return ok({ size, putAt: changedAt })
      }),
    list: () =>
      asResult('list the blobs', async () => {
        const names = await folder.names()
        return ok(names.flatMap((name) => BlobKey.safeParse(name).data ?? []))
      }),
    delete: (key, unlessNewerThan) => remove(parts, key, unlessNewerThan ?? Infinity),
    tidy: (olderThan) => tidy(folder, olderThan),
  }
}

/** Temp file, every byte, sync, rename, folder sync; only then the key. */
async function put(
  parts: StoreParts,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mediaType: string,
): Promise<Result<BlobKey>> {
  if (!isBlobMediaType(mediaType)) return unsupported(mediaType)
  return asResult('store a blob', async () => {
    const { folder, ids } = parts
    const temporary = ids.temporary()
    const key = await fillTemporary(parts, temporary, bytes, BLOB_EXTENSIONS[mediaType])
    if (await renewExisting(parts, key)) await folder.remove(temporary)
    else await publish(folder, temporary, key)
    return ok(key)
  })
}

/** Writes and syncs the temporary file and says what its content is called; on any failure the file is gone again. */
async function fillTemporary(
  { folder }: StoreParts,
  temporary: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  extension: string,
): Promise<BlobKey> {
  const file = await folder.open(temporary, 'create')
  try {
    const hash = await writeHashed(file, bytes)
    await file.sync()
    await file.close()
    return BlobKey.parse(`${hash}.${extension}`)
  } catch (error) {
    await file.close().catch(() => {})
    await folder.remove(temporary).catch(() => {})
    throw error
  }
}

async function writeHashed(
  file: File,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<string> {
  const hash = runningSha256()
  for await (const piece of bytes) {
    hash.update(piece)
    await writeAll(file, piece)
  }
  return hash.hex()
}

/**
 * True when the very same bytes stand there already; then they are durable too, and fresh for the sweep. The check of
 * the hash is long and runs without the lock; if a sweep took the file away meanwhile, its open descriptor tells.
 */
async function renewExisting(parts: StoreParts, key: BlobKey): Promise<boolean> {
  const { folder } = parts
  const file = await openMaybe(folder, key).catch((error: unknown) => {
    // A link or the like in a blob's place is bad content: the rename replaces it.
    if (fileFailure(error, 'read a blob').kind === 'not_regular_file') return undefined
    throw error
  })
  if (file === undefined) return false
  return closing(file, async () => {
    if (!(await hashMatches(file, key))) return false
    const kept = await underShortLock(parts, async () => {
      if ((await file.stat()).links === 0) return false
      await file.touch()
      return true
    })
    if (!kept) return false
    // Whoever put it first may have died before its syncs.
    await file.sync()
    await folder.sync()
    return true
  })
}

async function remove(parts: StoreParts, key: string, newest: number): Promise<Result<boolean>> {
  const valid = BlobKey.safeParse(key)
  if (!valid.success) return badKey()
  return asResult('delete a blob', () =>
    underShortLock(parts, async () => {
      const file = await openMaybe(parts.folder, valid.data)
      if (file === undefined) return ok(true)
      const { changedAt } = await closing(file, () => file.stat())
      if (changedAt > newest) return ok(false)
      await parts.folder.remove(valid.data)
      return ok(true)
    }),
  )
}

async function tidy(folder: Folder, olderThan: number): Promise<Result<number>> {
  return asResult('tidy the blobs', async () => {
    let removed = 0
    for (const name of await folder.names()) {
      if (!name.startsWith('.tmp-')) continue
      const file = await openMaybe(folder, name)
      if (file === undefined) continue
      const { changedAt } = await closing(file, () => file.stat())
      if (changedAt > olderThan) continue
      await removeIfThere(folder, name)
      removed += 1
    }
    return ok(removed)
  })
}

/** Someone else may have tidied it away just now. */
async function removeIfThere(folder: Folder, name: string): Promise<void> {
  await folder.remove(name).catch((error: unknown) => {
    if (!isMissing(error)) throw error
  })
}

/** Opens a blob for `work`, closes it after, and says when there is none. */
async function withBlob<T>(
  folder: Folder,
  key: string,
  work: (file: File, key: BlobKey) => Promise<Result<T>>,
): Promise<Result<T>> {
  const valid = BlobKey.safeParse(key)
  if (!valid.success) return badKey()
  return asResult('read a blob', async () => {
    const file = await openMaybe(folder, valid.data)
    if (file === undefined) return missing(valid.data, 'missing')
    return closing(file, () => work(file, valid.data))
  })
}

async function openVerified(folder: Folder, key: string): Promise<Result<OpenBlob>> {
  const valid = BlobKey.safeParse(key)
  if (!valid.success) return badKey()
  return asResult('read a blob', async () => {
    const file = await openMaybe(folder, valid.data)
    if (file === undefined) return missing(valid.data, 'missing')
    if (!(await hashMatches(file, valid.data))) {
      await file.close()
      return missing(valid.data, 'damaged')
    }
    const { size } = await file.stat()
    return ok({
      size,
      read: (start = 0, end = size) => pieces(file, start, Math.min(end, size)),
      close: () => file.close(),
    })
  })
}

async function readWhole(file: File, key: BlobKey): Promise<Result<Buffer>> {
  const { size } = await file.stat()
  const bytes = await readSpan(file, 0, size)
  const hash = runningSha256()
  hash.update(bytes)
  return hash.hex() === key.slice(0, 64) ? ok(bytes) : missing(key, 'damaged')
}

async function hashMatches(file: File, key: BlobKey): Promise<boolean> {
  const hash = runningSha256()
  for await (const piece of pieces(file, 0, Infinity)) hash.update(piece)
  return hash.hex() === key.slice(0, 64)
}

async function* pieces(file: File, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const piece = await readSpan(file, at, Math.min(PIECE_BYTES, end - at))
    if (piece.length === 0) return
    at += piece.length
    yield piece
  }
}

async function openMaybe(folder: Folder, name: string): Promise<File | undefined> {
  return folder.open(name, 'read').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
}

function isBlobMediaType(mediaType: string): mediaType is BlobMediaType {
  return Object.hasOwn(BLOB_EXTENSIONS, mediaType)
}

/** The key is not echoed: it is not ours, and may be anything. */
function badKey(): Failed {
  return failed('invalid_args', 'That is not the key of a blob.', { expected: '<sha256>.<ext>' })
}

function missing(key: BlobKey, state: 'missing' | 'damaged'): Failed {
  const words =
    state === 'missing' ? 'is not in the store' : 'is not what it was when it was stored'
  return failed('resource_missing', `The payload ${key} ${words}.`, { blob: key, state })
}

function unsupported(mediaType: string): Failed {
  return failed('unsupported_type', 'Blobs of this media type are not stored.', {
    media_type: mediaType.slice(0, 100),
    supported: Object.keys(BLOB_EXTENSIONS),
  })
}
