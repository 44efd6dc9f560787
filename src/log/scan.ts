import { LineFramer } from '../encoding/lines.ts'
import type { File } from '../host/files.ts'
import { readEvent, type EventEnvelope } from '../model/event.ts'
import type { SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { decodeLine, lineAt, type Cursor, type Fault, type LogLine } from './line.ts'

/** How far a reading came: the place behind the last good line, and what stopped it before the end, if anything. */
export interface ScanEnd {
  readonly cursor: Cursor
  readonly fault?: { readonly offset: number; readonly reason: Fault }
}

export interface ScanOptions {
  readonly session: SessionId
  /** See `decodeLine`. */
  readonly strict: boolean
  /** Where to begin; the start of the file when left out. */
  readonly from?: Cursor
}

export const LOG_START: Cursor = { offset: 0, seq: 0, prev: null }

/** Memory of a scan, whatever the Log's size: one chunk, and at most one line across chunks. */
const CHUNK_BYTES = 256 * 1024
/** The first read is small: often only a line or a short tail is wanted. */
const FIRST_CHUNK_BYTES = 16 * 1024

/**
 * Reads forward, once, line after line, and hands each good one to `visit`; stops before the first that is not good,
 * and behind the one for which `visit` returned false.
 */
export async function scan(
  file: File,
  options: ScanOptions,
  visit: (line: LogLine) => void | false,
): Promise<ScanEnd> {
  let cursor = options.from ?? LOG_START
  const begin = cursor.offset
  const framer = new LineFramer(LIMITS.event_line_bytes, begin)
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let position = begin; ;) {
    const room = position === begin ? FIRST_CHUNK_BYTES : CHUNK_BYTES
    const count = await file.read(chunk.subarray(0, room), position)
    if (count === 0) break
    position += count
    for (const framed of framer.push(chunk.subarray(0, count))) {
      if ('overlong' in framed) return stop(cursor, 'overlong')
      const line = placeLine(framed.bytes, cursor, options)
      if (typeof line === 'string') return stop(cursor, line)
      cursor = line.next
      if (visit(line) === false) return { cursor }
    }
  }
  return framer.unfinished === 0 ? { cursor } : stop(cursor, 'unterminated')
}

function stop(cursor: Cursor, reason: Fault): ScanEnd {
  return { cursor, fault: { offset: cursor.offset, reason } }
}

/** The line at `cursor`, or why these bytes cannot be it. */
function placeLine(bytes: Buffer, cursor: Cursor, options: ScanOptions): LogLine | Fault {
  const decoded = decodeLine(bytes, options.strict)
  if (!decoded.ok) return decoded.fault
  const { envelope, hash } = decoded
  if (envelope.session_id !== options.session) return 'other_session'
  const expected = cursor.offset === 0 ? firstPlace(envelope) : cursor
  if (envelope.seq !== expected.seq) return 'sequence'
  if (envelope.prev !== expected.prev) return 'chain'
  return lineAt(envelope, hash, cursor.offset, bytes.length)
}

/** A fork goes on with its parent's chain: its first line says where that stood. */
export function firstPlace(envelope: EventEnvelope): { seq: number; prev: string | null } {
  const logged = readEvent(envelope)
  if (!logged.known || logged.event.type !== 'session_fork') return LOG_START
  const { at_seq, at_hash } = logged.event.data
  return at_seq === undefined || at_hash === undefined
    ? LOG_START
    : { seq: at_seq + 1, prev: at_hash }
}
