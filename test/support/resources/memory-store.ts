import type { BlobStore } from '../../../src/blobs/store.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { Clock } from '../../../src/host/clock.ts'
import { failed, ok, withCause, type Failed, type Result } from '../../../src/model/errors.ts'
import { BLOB_EXTENSIONS, BlobKey, isBlobMediaType } from '../../../src/model/ids.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import { CrashDisk } from '../host/crash-disk.ts'

/** The store, and what no caller can do to it. */
interface MemoryStore {
  readonly store: BlobStore
  readonly disk: CrashDisk
  /** The same blobs for the processes after a power cut. */
  afterEnd(seed: number): MemoryStore
  /** Replaces the bytes of a blob by others that do not match its key. */
  corrupt(key: string, bytes: Buffer): void
  age(key: string, ms: number): void
}

interface StoredBlob {
  readonly bytes: Buffer
  readonly putAt: number
}

/**
 * A blob store in memory: code that runs on it depends on the port alone. `disk` says which calls fail and when the power is
 * cut; a put that is cut off leaves all of its bytes or none.
 */
export function memoryStore(
  clock: Pick<Clock, 'now'>,
  disk: CrashDisk = new CrashDisk(1),
  blobs = new Map<string, StoredBlob>(),
): MemoryStore {
  const find = (key: string): Result<StoredBlob> => {
    disk.checkPower()
    if (!BlobKey.safeParse(key).success) return badKey()
    const one = blobs.get(key)
    return one === undefined ? missing('missing') : ok(one)
  }
  const verified = (key: string): Result<StoredBlob> => {
    const one = find(key)
    if (!one.ok || sha256(one.value.bytes) === key.slice(0, 64)) return one
    return missing('damaged')
  }
  const store: BlobStore = {
    put: async (pieces, mediaType) => {
      if (!isBlobMediaType(mediaType)) return failed('unsupported_type', 'No such blobs.')
      const all: Uint8Array[] = []
      let size = 0
      for await (const piece of pieces) {
        size += piece.length
        if (size > LIMITS.blob_bytes) return failed('too_large', 'Too large.')
        all.push(piece)
      }
      const bytes = Buffer.concat(all)
      const key = BlobKey.parse(`${sha256(bytes)}.${BLOB_EXTENSIONS[mediaType]}`)
      disk.step()
      if (disk.fault() !== undefined) return failed('storage_failed', 'The bytes are not durable.')
      blobs.set(key, { bytes, putAt: clock.now() })
      // Stored, but not acknowledged.
      disk.step()
      return ok(key)
    },
    get: async (key) => {
      const one = verified(key)
      return one.ok ? ok(Buffer.from(one.value.bytes)) : one
    },
    open: async (key) => {
      const one = verified(key)
      if (!one.ok) return one
      const { bytes } = one.value
      const read = async function* (start = 0, end = bytes.length) {
        yield bytes.subarray(start, end)
      }
      return ok({ size: bytes.length, read, close: async () => {} })
    },
    stat: async (key) => {
      const one = find(key)
      return one.ok ? ok({ size: one.value.bytes.length, putAt: one.value.putAt }) : one
    },
    list: async () => ok([...blobs.keys()].map((key) => BlobKey.parse(key))),
    renew: async (key) => {
      const one = find(key)
      if (!one.ok) return one.error.kind === 'resource_missing' ? ok(false) : one
      blobs.set(key, { ...one.value, putAt: clock.now() })
      return ok(true)
    },
    delete: async (key, putAt) => {
      const one = find(key)
      if (!one.ok) return one.error.kind === 'resource_missing' ? ok(true) : one
      if (putAt !== undefined && one.value.putAt !== putAt) return ok(false)
      disk.step()
      return ok(blobs.delete(key))
    },
    tidy: async () => ok(0),
  }
  const change = (key: string, how: (one: StoredBlob) => StoredBlob) => {
    const one = blobs.get(key)
    if (one !== undefined) blobs.set(key, how(one))
  }
  return {
    store,
    disk,
    afterEnd: (seed) => memoryStore(clock, new CrashDisk(seed), blobs),
    corrupt: (key: string, bytes: Buffer) => change(key, (one) => ({ ...one, bytes })),
    age: (key: string, ms: number) => change(key, (one) => ({ ...one, putAt: one.putAt - ms })),
  }
}

function badKey(): Failed {
  return failed('invalid_args', 'That is not the key of a blob.')
}

function missing(state: 'missing' | 'damaged'): Failed {
  const refused = failed('resource_missing', 'The payload is not there.', { state })
  return withCause(refused, { type: 'payload', state })
}
