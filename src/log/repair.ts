import { closing, FileFailure, readSpan, replaceFile, type File } from '../host/files/files.ts'
import type { SessionId } from '../model/ids.ts'
import { decodeLine } from './line.ts'
import { tornName, type LogPlace } from './place.ts'
import type { ScanEnd } from './scan.ts'

/** The maximum size of one group commit, and so of what a crash can tear. */
export const BATCH_BYTES = 4 * 1024 * 1024

/** The first comes from a newer version. The second is rejected only by strict readers, so a writer would append after it. */
const NEVER_TORN: ReadonlySet<string> = new Set(['version', 'not_canonical'])

/** The end of a Log whose last write was interrupted. */
export interface TornTail {
  readonly offset: number
  readonly bytes: Buffer
}

/**
 * Distinguishes a torn tail from damage. A crash tears at most the last write, and a later write starts only when the
 * previous one is durable. If a valid line after the fault belongs to a later write, the fault is damage, and nothing may
 * be cut. A partially written batch, in any order, has only its own lines after the fault.
 */
export async function findTornTail(
  file: File,
  session: SessionId,
  end: ScanEnd,
): Promise<TornTail | undefined> {
  if (end.fault === undefined || NEVER_TORN.has(end.fault.reason)) return undefined
  const bytes = await readSpan(file, end.fault.offset, BATCH_BYTES + 1)
  if (bytes.length > BATCH_BYTES) return undefined
  const tornSeq = end.cursor.seq
  for (const line of wholeLines(bytes)) {
    const decoded = decodeLine(line, false)
    if (!decoded.ok && decoded.fault === 'version') return undefined
    if (!decoded.ok || decoded.envelope.session_id !== session) continue
    if (decoded.envelope.seq - (decoded.envelope.batch ?? 0) > tornSeq) return undefined
  }
  return { offset: end.fault.offset, bytes }
}

/**
 * Cuts off a torn tail; the cut bytes are durable beside the Log before they are removed from it. Only the holder of the
 * lease calls this. The name of the piece carries the number of the line that was cut.
 */
export async function cutTornTail(
  place: LogPlace,
  session: SessionId,
  file: File,
  seq: number,
  torn: TornTail,
): Promise<void> {
  const kept = await piecesAt(place, session, seq)
  const again = await findSame(place, kept, torn.bytes)
  if (again === undefined) {
    const last = kept.at(-1)?.nth ?? 0
    const name = tornName(session, last === 0 ? `${seq}` : `${seq}-${last + 1}`)
    await replaceFile(place.sessions, name, torn.bytes, place.ids.temporary())
  } else {
    // The process that stored it may have been killed before it was durable.
    await closing(await place.sessions.open(again, 'read'), (piece) => piece.sync())
    await place.sessions.sync()
  }
  await file.truncate(torn.offset)
  await file.datasync()
}

/** A piece that was cut off before a line, the `nth` at that line. */
interface Piece {
  readonly name: string
  readonly nth: number
  readonly size: number
}

/** The pieces cut off before the line `seq`. That line records the repair; until it is written, the record is pending. */
export async function piecesAt(
  place: LogPlace,
  session: SessionId,
  seq: number,
): Promise<readonly Piece[]> {
  const first = tornName(session, `${seq}`)
  const pieces: Piece[] = []
  for (const name of await place.sessions.names()) {
    const nth = name === first ? 1 : Number(/^-([1-9]\d{0,8})$/.exec(after(name, first))?.[1])
    if (!Number.isInteger(nth)) continue
    const size = await sizeOf(place, name)
    if (size !== undefined) pieces.push({ name, nth, size })
  }
  return pieces.toSorted((a, b) => a.nth - b.nth)
}

/** `undefined` for files that are not ours: they must not prevent opening a Session. */
async function sizeOf(place: LogPlace, name: string): Promise<number | undefined> {
  try {
    return await closing(await place.sessions.open(name, 'read'), async (piece) => {
      return (await piece.stat()).size
    })
  } catch (error) {
    if (error instanceof FileFailure) return undefined
    throw error
  }
}

function after(name: string, first: string): string {
  return name.startsWith(first) ? name.slice(first.length) : ''
}

async function findSame(
  place: LogPlace,
  pieces: readonly Piece[],
  bytes: Buffer,
): Promise<string | undefined> {
  for (const { name, size } of pieces) {
    if (size !== bytes.length) continue
    const piece = await place.sessions.open(name, 'read')
    if ((await closing(piece, () => readSpan(piece, 0, size))).equals(bytes)) return name
  }
  return undefined
}

function* wholeLines(bytes: Buffer): Generator<Buffer> {
  let from = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    yield bytes.subarray(from, at)
    from = at + 1
  }
}
