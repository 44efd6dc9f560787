import { createHash, type Hash } from 'node:crypto'
import {
  closeSync,
  constants,
  createReadStream,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs'
import { createInflate, inflateSync } from 'node:zlib'
import { nextRound } from '../wait.ts'

const LOOSE_NAME = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/
const PACK_NAME = /^pack-(?:[0-9a-f]{40}|[0-9a-f]{64})\.(pack|idx|rev|mtimes|promisor|keep)$/
/** They say something about a pack, and have no hash. */
const MARKS: ReadonlySet<string | undefined> = new Set(['promisor', 'keep'])

/** Whether a file below `objects` is one of git's: loose, or of a pack. */
export function isObject(folder: string, file: string): boolean {
  return folder === 'pack' ? PACK_NAME.test(file) : LOOSE_NAME.test(file)
}

/** Whether an object has the content that its name, or the hash at its end, says. */
export async function isIntact(folder: string, file: string, path: string): Promise<boolean> {
  try {
    if (folder !== 'pack') return await isNamed(`${folder}${file}`, path)
    return MARKS.has(PACK_NAME.exec(file)?.[1]) || (await endsWithHash(file, path))
  } catch {
    return false
  }
}

const SMALL_BYTES = 1024 * 1024
const MOST_SMALL_BYTES = 16 * SMALL_BYTES
/** Git packs larger ones. What inflates to more may be made to use up memory or time. */
const MOST_BYTES = 512 * SMALL_BYTES

async function isNamed(id: string, path: string): Promise<boolean> {
  const hash = hashFor(id)
  const whole = lstatSync(path).size <= SMALL_BYTES ? inflatedWhole(path) : undefined
  if (whole !== undefined) return hash.update(whole).digest('hex') === id
  const bytes = createReadStream(path).pipe(createInflate())
  let count = 0
  for await (const piece of bytes) {
    if (!Buffer.isBuffer(piece)) return false
    count += piece.length
    if (count > MOST_BYTES) return false
    hash.update(piece)
  }
  return hash.digest('hex') === id
}

/** `undefined` if it is large. */
function inflatedWhole(path: string): Buffer | undefined {
  try {
    return inflateSync(readFileSync(path), { maxOutputLength: MOST_SMALL_BYTES })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const PIECE_BYTES = 4 * 1024 * 1024

async function endsWithHash(file: string, path: string): Promise<boolean> {
  const id = /^pack-([0-9a-f]+)/.exec(file)?.[1] ?? ''
  const hash = hashFor(id)
  const { size } = lstatSync(path)
  const end = size - id.length / 2
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (let at = 0; at < end;) {
      const count = readSync(descriptor, piece, 0, Math.min(PIECE_BYTES, end - at), at)
      if (count === 0) return false
      hash.update(piece.subarray(0, count))
      at += count
      if (at < end) await nextRound()
    }
    const found = Buffer.alloc(id.length / 2)
    return readSync(descriptor, found, 0, found.length, end) > 0 && hash.digest().equals(found)
  } finally {
    closeSync(descriptor)
  }
}

/** The hash that a repository uses, by the length of its names. */
function hashFor(id: string): Hash {
  return createHash(id.length === 64 ? 'sha256' : 'sha1')
}
