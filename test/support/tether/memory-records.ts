import { sha256 } from '../../../src/encoding/hash.ts'
import { usualExtension } from '../../../src/encoding/magic-bytes.ts'
import type { Clock } from '../../../src/host/clock.ts'
import { pathOf } from '../../../src/host/files/disk.ts'
import type { RecordsPlace } from '../../../src/host/files/records.ts'
import type { HeadStore } from '../../../src/log/head-store.ts'
import { failed, ok, withCause, type Failed, type Result } from '../../../src/model/errors.ts'
import { BLOB_EXTENSIONS, type SessionId } from '../../../src/model/ids.ts'
import { ImageReference } from '../../../src/model/tether/frame.ts'
import type { GuestRecords } from '../../../src/tether/records/guest-records.ts'
import { MemoryEngine } from '../log/memory-engine.ts'
import { memoryLogs } from '../log/memory-logs.ts'
import { memoryStores } from '../log/memory-stores.ts'
import { memoryStore } from '../resources/memory-store.ts'

/** The records of one Instance in one workspace. */
interface MemoryRecord {
  readonly logs: MemoryEngine
  readonly blobs: Map<string, Buffer>
}

const HOLDER = { pid: process.pid, program: 'memory', since: '2026-01-31T12:00:00.000Z' }

/** Records of guests in memory: what is stored survives every process, and a guest changes it by the methods below. */
export class MemoryRecords {
  readonly #clock: Clock
  readonly #places = new Map<string, MemoryRecord>()
  readonly #heads = new Map<string, MemoryEngine>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The records as one process sees them. */
  records(): GuestRecords {
    return {
      prepare: async (place, _options, mode) => {
        const key = keyOf(place)
        if (mode === 'create' && !this.#places.has(key))
          this.#places.set(key, { logs: new MemoryEngine(), blobs: new Map() })
        return ok(place)
      },
      inLogs: async (place, work) => {
        const found = this.#places.get(keyOf(place))
        return found && work(memoryLogs(found.logs))
      },
      heads: async (instance, workspace) => {
        const key = `${instance}\0${workspace}`
        const engine = this.#heads.get(key) ?? new MemoryEngine()
        this.#heads.set(key, engine)
        const heads: HeadStore = memoryStores(engine, HOLDER).heads
        return ok({ ...heads, close: async () => {} })
      },
      storeBlob: async (place, bytes, mediaType) => {
        const found = this.#places.get(keyOf(place))
        if (found === undefined) return failed('not_found', 'There are no records.')
        const put = await memoryStore(this.#clock).store.put([bytes], mediaType)
        if (put.ok) found.blobs.set(put.value, Buffer.from(bytes))
        return put
      },
      readBlob: async (place, named) => {
        const reference = ImageReference.safeParse(named)
        if (!reference.success) return failed('invalid_args', 'Invalid image reference.')
        const bytes = this.#places.get(keyOf(place))?.blobs.get(reference.data.blob)
        return bytes !== undefined && matches(bytes, reference.data) ? ok(bytes) : missing()
      },
      blobSize: async (place, blob): Promise<Result<number | undefined>> =>
        ok(this.#places.get(keyOf(place))?.blobs.get(blob)?.length),
    }
  }

  writeLog(place: RecordsPlace, session: SessionId, bytes: Buffer): void {
    this.#places.get(keyOf(place))?.logs.state.logs.set(session, {
      bytes,
      durable: bytes.length,
      pieces: new Map(),
      watchers: new Set(),
      isDeleted: false,
    })
  }

  replaceBlob(place: RecordsPlace, key: string, bytes: Buffer | undefined): void {
    const blobs = this.#places.get(keyOf(place))?.blobs
    if (bytes === undefined) blobs?.delete(key)
    else blobs?.set(key, bytes)
  }
}

function keyOf({ workspace, instance }: RecordsPlace): string {
  return `${pathOf(workspace)}\0${instance}`
}

function matches(bytes: Buffer, { blob, size, media_type }: ImageReference): boolean {
  return (
    bytes.length === size &&
    sha256(bytes) === blob.slice(0, blob.indexOf('.')) &&
    usualExtension(bytes) === BLOB_EXTENSIONS[media_type]
  )
}

function missing(): Failed {
  const refused = failed('resource_missing', 'The image is missing or damaged.')
  return withCause(refused, { type: 'payload', state: 'missing' })
}
