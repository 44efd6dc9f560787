import { runningSha256, sha256 } from '../encoding/hash.ts'
import {
  asResult,
  closing,
  fileFailure,
  ifPossible,
  ifThere,
  readSpan,
  removeTemporaries,
  writeAll,
  type File,
  type Folder,
} from '../host/files/files.ts'
import type { Clock } from '../host/clock.ts'
import type { Ids } from '../host/ids.ts'
import { failed, ok, withCause, type Failed, type Result } from '../model/errors.ts'
import { BLOB_EXTENSIONS, BlobKey, blobSha256, isBlobMediaType } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
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
    renew: (key) => renew(parts, key),
    delete: (key, putAt) => remove(parts, key, putAt),
    tidy: (olderThan) =>
      asResult('tidy the blobs', async () => ok(await removeTemporaries(folder, olderThan))),
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
    const filled = await fillTemporary(parts, temporary, bytes, BLOB_EXTENSIONS[mediaType])
    if (!filled.ok) return filled
    const { key } = filled.value
    try {
      if (await renewExisting(parts, filled.value)) {
        await folder.remove(temporary)
        return ok(key)
      }
      // Under the lock, so that a sweep that found something old under this key does not delete what is new.
      await underShortLock(parts, () => folder.rename(temporary, key))
    } catch (error) {
      await ifPossible(folder.remove(temporary))
      throw error
    }
    await folder.sync()
    return ok(key)
  })
}

/** Content that is durable under a temporary name, and what it is called. */
interface Filled {
  readonly key: BlobKey
  readonly size: number
}

/** Writes and syncs the temporary file and says what its content is called; on any failure the file is gone again. */
async function fillTemporary(
  { folder }: StoreParts,
  temporary: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  extension: string,
): Promise<Result<Filled>> {
  const file = await folder.open(temporary, 'create')
  try {
    const hash = runningSha256()
    let size = 0
    for await (const piece of bytes) {
      hash.update(piece)
      size += piece.length
      if (size > LIMITS.blob_bytes) break
      await writeAll(file, piece)
    }
    if (size <= LIMITS.blob_bytes) {
      await file.sync()
      await file.close()
      return ok({ key: BlobKey.parse(`${hash.hex()}.${extension}`), size })
    }
  } catch (error) {
    await ifPossible(file.close())
    await ifPossible(folder.remove(temporary))
    throw error
  }
  await file.close()
  await folder.remove(temporary)
  return tooLarge()
}

/**
 * True when the very same bytes stand there already; then they are durable too, and fresh for the sweep. The check of
 * the hash is long and runs without the lock; if a sweep took the file away meanwhile, its open descriptor tells.
 */
async function renewExisting(parts: StoreParts, { key, size }: Filled): Promise<boolean> {
  const { folder } = parts
  const file = await ifThere(folder.open(key, 'read')).catch((error: unknown) => {
    // A link or the like in a blob's place is bad content: the rename replaces it.
    if (fileFailure(error, 'read a blob').kind === 'not_regular_file') return undefined
    throw error
  })
  if (file === undefined) return false
  return closing(file, async () => {
    if ((await file.stat()).size !== size || !(await hashMatches(file, key))) return false
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

async function renew(parts: StoreParts, key: string): Promise<Result<boolean>> {
  const valid = BlobKey.safeParse(key)
  if (!valid.success) return badKey()
  return asResult('renew a blob', () =>
    underShortLock(parts, async () => {
      const file = await ifThere(parts.folder.open(valid.data, 'read'))
      if (file === undefined) return ok(false)
      await closing(file, () => file.touch())
      return ok(true)
    }),
  )
}

async function remove(
  parts: StoreParts,
  key: string,
  putAt: number | undefined,
): Promise<Result<boolean>> {
  const valid = BlobKey.safeParse(key)
  if (!valid.success) return badKey()
  return asResult('delete a blob', () =>
    underShortLock(parts, async () => {
      const file = await ifThere(parts.folder.open(valid.data, 'read'))
      if (file === undefined) return ok(true)
      const { changedAt } = await closing(file, () => file.stat())
      // Another time, be it an earlier one: clocks step back.
      if (putAt !== undefined && changedAt !== putAt) return ok(false)
      await parts.folder.remove(valid.data)
      return ok(true)
    }),
  )
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
    const file = await ifThere(folder.open(valid.data, 'read'))
    if (file === undefined) return missing(valid.data, 'missing')
    return closing(file, () => work(file, valid.data))
  })
}

async function openVerified(folder: Folder, key: string): Promise<Result<OpenBlob>> {
  const valid = BlobKey.safeParse(key)
  if (!valid.success) return badKey()
  return asResult('read a blob', async () => {
    const file = await ifThere(folder.open(valid.data, 'read'))
    if (file === undefined) return missing(valid.data, 'missing')
    try {
      const { size } = await file.stat()
      if (size <= LIMITS.blob_bytes && (await hashMatches(file, valid.data))) {
        return ok({
          size,
          read: (start = 0, end = size) => pieces(file, start, Math.min(end, size)),
          close: () => file.close(),
        })
      }
    } catch (error) {
      await ifPossible(file.close())
      throw error
    }
    await file.close()
    return missing(valid.data, 'damaged')
  })
}

async function readWhole(file: File, key: BlobKey): Promise<Result<Buffer>> {
  const { size } = await file.stat()
  if (size > LIMITS.blob_bytes) return missing(key, 'damaged')
  const bytes = await readSpan(file, 0, size)
  return sha256(bytes) === blobSha256(key) ? ok(bytes) : missing(key, 'damaged')
}

/** Never reads further than a blob can be. */
async function hashMatches(file: File, key: BlobKey): Promise<boolean> {
  const hash = runningSha256()
  for await (const piece of pieces(file, 0, LIMITS.blob_bytes + 1)) hash.update(piece)
  return hash.hex() === blobSha256(key)
}

async function* pieces(file: File, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const piece = await readSpan(file, at, Math.min(PIECE_BYTES, end - at))
    if (piece.length === 0) return
    at += piece.length
    yield piece
  }
}

/** The key is not echoed: it is not ours, and may be anything. */
function badKey(): Failed {
  return failed('invalid_args', 'That is not the key of a blob.', { expected: '<sha256>.<ext>' })
}

function missing(key: BlobKey, state: 'missing' | 'damaged'): Failed {
  const words =
    state === 'missing' ? 'is not in the store' : 'is not what it was when it was stored'
  const refused = failed('resource_missing', `The payload ${key} ${words}.`, { blob: key, state })
  return withCause(refused, { type: 'payload', state })
}

function tooLarge(): Failed {
  const limit = LIMITS.blob_bytes
  return failed('too_large', `A blob has at most ${limit} bytes.`, { limit })
}

function unsupported(mediaType: string): Failed {
  return failed('unsupported_type', 'Blobs of this media type are not stored.', {
    media_type: mediaType.slice(0, 100),
    supported: Object.keys(BLOB_EXTENSIONS),
  })
}
