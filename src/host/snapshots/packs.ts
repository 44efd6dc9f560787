import { deflateRawSync, inflateRawSync } from 'node:zlib'
import {
  closing,
  FileFailure,
  ifPossible,
  readSpan,
  writeAll,
  type File,
  type Folder,
} from '../files/files.ts'
import type { Ids } from '../ids.ts'
import { objectId } from './tree.ts'

/**
 * Objects by their SHA-256, in packs: files that are written once, synced, and then get their name. A pack is a row of stored
 * objects, then an index of fixed-size rows, then a trailer with the number of rows and the hash of the index. Every method
 * throws a `FileFailure` only.
 */
export class Packs {
  readonly #ids: Pick<Ids, 'temporary'>
  /** Open as long as an act of `Snapshots` runs. */
  folder: Folder
  readonly #places = new Map<string, StoredObject>()
  readonly #read = new Set<string>()
  #storedBytes = 0
  #writing: PackWriter | undefined

  constructor(folder: Folder, ids: Pick<Ids, 'temporary'>) {
    this.folder = folder
    this.#ids = ids
  }

  /** Reads the indexes of packs that this process has not seen. */
  async refresh(): Promise<void> {
    for (const name of (await this.folder.names()).toSorted()) {
      if (!name.endsWith(PACK) || this.#read.has(name)) continue
      this.#read.add(name)
      const found = await this.folder
        .open(name, 'read')
        .then((file) => closing(file, indexRows))
        .catch(unlessGone)
      this.#storedBytes += found?.size ?? 0
      for (const [id, place] of found?.rows ?? []) this.#places.set(id, { ...place, pack: name })
    }
  }

  /** Whether every pack that this process knows is still there; another one may have swept. */
  async areComplete(): Promise<boolean> {
    const names = new Set(await this.folder.names())
    return [...this.#read].every((name) => names.has(name))
  }

  has(id: string): boolean {
    return this.#places.has(id) || this.#writing?.has(id) === true
  }

  /** Adds an object to the pack that is being written. It is stored when `flush` resolves. Throws `STORE_FULL` at the limit. */
  async add(id: string, bytes: Buffer): Promise<void> {
    if (this.has(id)) return
    this.#writing ??= await startPack(this.folder, this.#ids.temporary())
    await this.#writing.add(id, bytes)
    if (this.#storedBytes + this.#writing.size > MOST_STORED)
      throw new FileFailure('STORE_FULL', 'the packs of a workspace are too large together')
  }

  /** Makes everything that was added durable. After a failure, nothing of it counts as stored. */
  async flush(): Promise<void> {
    const writing = this.#writing
    this.#writing = undefined
    if (writing === undefined) return
    const pack = `${objectId(Buffer.from(writing.temporary)).slice(0, 32)}${PACK}`
    for (const [id, place] of await writing.end(pack)) this.#places.set(id, { ...place, pack })
    this.#storedBytes += writing.size
    this.#read.add(pack)
  }

  async abandon(): Promise<void> {
    const writing = this.#writing
    this.#writing = undefined
    await writing?.abandon()
  }

  /** The bytes of an object; `undefined` if it is not stored, or is damaged. */
  async get(id: string): Promise<Buffer | undefined> {
    if (!this.#places.has(id)) await this.refresh()
    const place = this.#places.get(id)
    if (place === undefined) return undefined
    const stored = await this.folder
      .open(place.pack, 'read')
      .then((file) => closing(file, () => readSpan(file, place.offset, place.length)))
      .catch(unlessGone)
    const bytes = stored && unpack(stored, place)
    return bytes !== undefined && objectId(bytes) === id ? bytes : undefined
  }

  /** The ids in each pack, the oldest first. */
  async list(): Promise<ReadonlyMap<string, readonly string[]>> {
    await this.refresh()
    const all = new Map<string, string[]>()
    for (const [id, { pack }] of this.#places) all.set(pack, [...(all.get(pack) ?? []), id])
    return all
  }
}

const PACK = '.pack'
/** All packs of a workspace together. What is larger is not covered. */
const MOST_STORED = 16 * 1024 * 1024 * 1024
const TRAILER_BYTES = 8 + 32
/** 32 bytes of the id, 6 of the offset, 5 of the length, 1 of the form. */
const ROW_BYTES = 44
const BUFFER_BYTES = 4 * 1024 * 1024
/** Smaller objects do not become smaller. */
const LEAST_DEFLATED = 128

interface Place {
  readonly offset: number
  readonly length: number
  readonly isDeflated: boolean
}

interface StoredObject extends Place {
  readonly pack: string
}

class PackWriter {
  readonly temporary: string
  readonly #folder: Folder
  readonly #file: File
  readonly #rows = new Map<string, Place>()
  #waiting: Buffer[] = []
  #bytes = 0
  #offset = 0

  constructor(folder: Folder, file: File, temporary: string) {
    this.#folder = folder
    this.#file = file
    this.temporary = temporary
  }

  /** Without its index. */
  get size(): number {
    return this.#offset
  }

  has(id: string): boolean {
    return this.#rows.has(id)
  }

  async add(id: string, bytes: Buffer): Promise<void> {
    const packed = bytes.length < LEAST_DEFLATED ? bytes : deflateRawSync(bytes, { level: 1 })
    const isDeflated = packed.length < bytes.length
    const stored = isDeflated ? packed : bytes
    this.#rows.set(id, { offset: this.#offset, length: stored.length, isDeflated })
    this.#offset += stored.length
    await this.#write(stored)
  }

  async end(name: string): Promise<ReadonlyMap<string, Place>> {
    try {
      const index = Buffer.concat([...this.#rows].map(([id, place]) => rowBytes(id, place)))
      const trailer = Buffer.alloc(8)
      trailer.writeBigUInt64BE(BigInt(this.#rows.size))
      await this.#write(Buffer.concat([index, trailer, Buffer.from(objectId(index), 'hex')]))
      await this.#drain()
      await this.#file.sync()
      await this.#file.close()
      await this.#folder.rename(this.temporary, name)
      await this.#folder.sync()
    } catch (error) {
      await this.abandon()
      throw error
    }
    return this.#rows
  }

  async abandon(): Promise<void> {
    await ifPossible(this.#file.close())
    await ifPossible(this.#folder.remove(this.temporary))
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= BUFFER_BYTES) await this.#drain()
  }

  async #drain(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#bytes = 0
    await writeAll(this.#file, bytes)
  }
}

async function startPack(folder: Folder, temporary: string): Promise<PackWriter> {
  return new PackWriter(folder, await folder.open(temporary, 'create'), temporary)
}

function rowBytes(id: string, { offset, length, isDeflated }: Place): Buffer {
  const row = Buffer.alloc(ROW_BYTES)
  row.write(id, 0, 'hex')
  row.writeUIntBE(offset, 32, 6)
  row.writeUIntBE(length, 38, 5)
  row.writeUInt8(isDeflated ? 1 : 0, 43)
  return row
}

/** The size of a pack and its index, which is empty if it is damaged: what it had counts as missing. */
async function indexRows(
  file: File,
): Promise<{ readonly size: number; readonly rows: ReadonlyMap<string, Place> }> {
  const { size } = await file.stat()
  return { size, rows: await rowsIn(file, size) }
}

async function rowsIn(file: File, size: number): Promise<ReadonlyMap<string, Place>> {
  const rows = new Map<string, Place>()
  const trailer = await readSpan(file, Math.max(0, size - TRAILER_BYTES), TRAILER_BYTES)
  if (trailer.length < TRAILER_BYTES) return rows
  const length = Number(trailer.readBigUInt64BE(0)) * ROW_BYTES
  const start = size - TRAILER_BYTES - length
  if (!Number.isSafeInteger(length) || start < 0) return rows
  const index = await readSpan(file, start, length)
  if (objectId(index) !== trailer.toString('hex', 8)) return rows
  for (let at = 0; at < length; at += ROW_BYTES) {
    rows.set(index.toString('hex', at, at + 32), {
      offset: index.readUIntBE(at + 32, 6),
      length: index.readUIntBE(at + 38, 5),
      isDeflated: index.readUInt8(at + 43) === 1,
    })
  }
  return rows
}

function unpack(stored: Buffer, { isDeflated }: Place): Buffer | undefined {
  try {
    return isDeflated ? inflateRawSync(stored, { maxOutputLength: MOST_BYTES }) : stored
  } catch {
    return undefined
  }
}

/** More than any object has. */
const MOST_BYTES = 256 * 1024 * 1024

/** Another process removed the pack. */
function unlessGone(error: unknown): undefined {
  if (error instanceof FileFailure && error.code === 'ENOENT') return undefined
  throw error
}
