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
import { underShortLock } from '../host/short-lock.ts'
import type { BlobStore, OpenBlob } from './store.ts'

const PIECE_BYTES = 256 * 1024

/** The parts of a store: its folder (`<workspace>/.hawser/blobs`), opened and checked by the caller, and the host ports. */
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

/**
 * Temporary file, all bytes, sync, rename, folder sync; only then the key. Small content in memory is looked up before it
 * is written: every Session stores the same surface.
 */
async function put(
  parts: StoreParts,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mediaType: string,
): Promise<Result<BlobKey>> {
  if (!isBlobMediaType(mediaType)) return unsupportedType(mediaType)
  return asResult('store a blob', async () => {
    const { folder, ids } = parts
    const extension = BLOB_EXTENSIONS[mediaType]
    const small = Array.isArray(bytes) ? smallContent(bytes, extension) : undefined
    if (small !== undefined && (await renewExisting(parts, small))) return ok(small.key)
    const temporary = ids.temporary()
    const filled = await fillTemporary(parts, temporary, bytes, extension)
    if (!filled.ok) return filled
    const { key } = filled.value
    try {
      if (await renewExisting(parts, filled.value)) {
        await folder.remove(temporary)
        return ok(key)
      }
      // Under the lock, so that a sweep that found an old blob under this key does not delete the new one.
      await underShortLock(parts, () => folder.rename(temporary, key))
    } catch (error) {
      await ifPossible(folder.remove(temporary))
      throw error
    }
    await folder.sync()
    return ok(key)
  })
}

/** The key and the size of some content. */
interface Content {
  readonly key: BlobKey
  readonly size: number
}

/** `undefined` if hashing it twice would take long. */
function smallContent(bytes: readonly Uint8Array[], extension: string): Content | undefined {
  const size = bytes.reduce((sum, { length }) => sum + length, 0)
  if (size > PIECE_BYTES) return undefined
  return { key: BlobKey.parse(`${sha256(Buffer.concat(bytes))}.${extension}`), size }
}

/** Writes and syncs the temporary file and returns the key of its content; on failure the file is removed. */
async function fillTemporary(
  { folder }: StoreParts,
  temporary: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  extension: string,
): Promise<Result<Content>> {
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
 * True if the same bytes are already stored; then makes them durable and renews them for the sweep. Verifying the hash
 * takes long and runs without the lock; if a sweep removed the file meanwhile, its open descriptor shows that.
 */
async function renewExisting(parts: StoreParts, { key, size }: Content): Promise<boolean> {
  const { folder } = parts
  const file = await ifThere(folder.open(key, 'read')).catch((error: unknown) => {
    // A link or similar in place of a blob is damage: the rename replaces it.
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
    // The process that stored it first may have died before its syncs.
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
      // Any other time means renewed, even an earlier one: clocks can step back.
      if (putAt !== undefined && changedAt !== putAt) return ok(false)
      await parts.folder.remove(valid.data)
      return ok(true)
    }),
  )
}

/** Opens a blob for `work` and closes it afterwards; an error if there is none. */
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

/** Never reads beyond the blob size limit. */
async function hashMatches(file: File, key: BlobKey): Promise<boolean> {
  const hash = runningSha256()
  for await (const piece of pieces(file, 0, LIMITS.blob_bytes + 1)) hash.update(piece)
  return hash.hex() === blobSha256(key)
}

async function* pieces(file: File, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const wanted = Math.min(PIECE_BYTES, end - at)
    const piece = await readSpan(file, at, wanted)
    if (piece.length === 0) return
    at += piece.length
    yield piece
    if (piece.length < wanted) return
  }
}

/** The key is untrusted input, so the message does not repeat it. */
function badKey(): Failed {
  return failed('invalid_args', 'Invalid blob key; expected <sha256>.<ext>.', {
    expected: '<sha256>.<ext>',
  })
}

function missing(key: BlobKey, state: 'missing' | 'damaged'): Failed {
  const words =
    state === 'missing'
      ? 'is missing from the blob store'
      : 'is damaged: its content does not match its hash'
  const refused = failed('resource_missing', `The payload ${key} ${words}.`, { blob: key, state })
  return withCause(refused, { type: 'payload', state })
}

function tooLarge(): Failed {
  const limit = LIMITS.blob_bytes
  return failed('too_large', `The content exceeds the blob limit of ${limit} bytes.`, { limit })
}

function unsupportedType(mediaType: string): Failed {
  return failed('unsupported_type', `Unsupported media type for a blob: ${mediaType}.`, {
    media_type: mediaType.slice(0, 100),
    supported: Object.keys(BLOB_EXTENSIONS),
  })
}
