import { readSpan } from '../host/files/files.ts'
import type { SessionId } from '../model/ids.ts'
import type { HeadRecord } from './head-record.ts'
import { decodeLine, type Cursor, type Fault } from './line.ts'
import type { ReadableLog } from './log-store.ts'
import { scan, type ScanEnd } from './scan.ts'

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
  log: ReadableLog,
  session: SessionId,
  end: ScanEnd,
): Promise<TornTail | undefined> {
  if (end.fault === undefined || NEVER_TORN.has(end.fault.reason)) return undefined
  // Nothing was torn where a fork found a whole line.
  if (end.fault.offset < (log.lineage?.ownStart ?? 0)) return undefined
  const bytes = await readSpan(log, end.fault.offset, BATCH_BYTES + 1)
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

/** Compares a Log, read up to `end`, with its head. */
export async function headFault(
  log: ReadableLog,
  session: SessionId,
  end: Cursor,
  head: HeadRecord,
): Promise<Fault | undefined> {
  if (head.seq === -1) return undefined
  if (end.seq - 1 < head.seq) return 'head_missing'
  if (end.seq - 1 === head.seq) return end.prev === head.hash ? undefined : 'head_differs'
  // The head is behind: then the line after it is at its offset and names its hash.
  const from = { offset: head.offset, seq: head.seq + 1, prev: head.hash }
  const { cursor } = await scan(log, { session, strict: false, from }, () => false)
  return cursor.seq > from.seq ? undefined : 'head_differs'
}

function* wholeLines(bytes: Buffer): Generator<Buffer> {
  let from = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    yield bytes.subarray(from, at)
    from = at + 1
  }
}
