import { closing, readSpan, replaceFile, type File } from '../host/files.ts'
import type { SessionId } from '../model/ids.ts'
import { decodeLine } from './line.ts'
import { tornName, type LogPlace } from './place.ts'
import type { ScanEnd } from './scan.ts'

/** One group commit is never larger, so neither is what a crash can tear. */
export const BATCH_BYTES = 4 * 1024 * 1024

/** The end of a Log whose last write was cut short. */
export interface TornTail {
  readonly offset: number
  readonly bytes: Buffer
}

/**
 * Tells a torn tail from damage. A crash tears at most the last write, and a later write begins only when that one is
 * durable; so if a good line behind the fault belongs to a later write, the fault is damage, and nothing may be cut.
 * A write that reached the disk in part, in any order, has only lines of its own behind the fault.
 */
export async function findTornTail(
  file: File,
  session: SessionId,
  end: ScanEnd,
): Promise<TornTail | undefined> {
  if (end.fault === undefined || end.fault.reason === 'version') return undefined
  const bytes = await readSpan(file, end.fault.offset, BATCH_BYTES + 1)
  if (bytes.length > BATCH_BYTES) return undefined
  const tornSeq = end.cursor.seq
  for (const line of linesOf(bytes)) {
    const decoded = decodeLine(line, false)
    if (!decoded.ok && decoded.fault === 'version') return undefined
    if (!decoded.ok || decoded.envelope.session_id !== session) continue
    if (decoded.envelope.seq - (decoded.envelope.batch ?? 0) > tornSeq) return undefined
  }
  return { offset: end.fault.offset, bytes }
}

/**
 * Cuts a torn tail off: what is cut is durable beside the Log before it leaves the Log. Only the holder of the lease
 * calls this; the piece's name carries the number that the cut line would have had.
 */
export async function cutTornTail(
  place: LogPlace,
  session: SessionId,
  file: File,
  seq: number,
  torn: TornTail,
): Promise<void> {
  const kept = await piecesAt(place, session, seq)
  const again = kept.some((piece) => piece.bytes.equals(torn.bytes))
  if (!again) {
    const piece = kept.length === 0 ? `${seq}` : `${seq}-${kept.length + 1}`
    const name = tornName(session, piece)
    await replaceFile(place.sessions, name, torn.bytes, place.ids.temporary())
  }
  await file.truncate(torn.offset)
  await file.datasync()
}

/** What was cut off before the line `seq`. A repair is recorded by that very line; until it is, these are owed to it. */
export async function piecesAt(
  place: LogPlace,
  session: SessionId,
  seq: number,
): Promise<{ readonly name: string; readonly bytes: Buffer }[]> {
  const first = tornName(session, `${seq}`)
  const names = (await place.sessions.names()).filter(
    (name) => name === first || name.startsWith(`${first}-`),
  )
  return Promise.all(
    names.toSorted().map(async (name) => {
      const file = await place.sessions.open(name, 'read')
      const bytes = await closing(file, () => readSpan(file, 0, BATCH_BYTES))
      return { name, bytes }
    }),
  )
}

function* linesOf(bytes: Buffer): Generator<Buffer> {
  let from = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    yield bytes.subarray(from, at)
    from = at + 1
  }
}
