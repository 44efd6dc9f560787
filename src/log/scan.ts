import { LineFramer } from '../encoding/lines.ts'
import { ifPossible, type File } from '../host/files/files.ts'
import { readEvent, vouchedEvent, type EventEnvelope } from '../model/events/event.ts'
import type { SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import {
  decodeLine,
  decodeVouchedLine,
  lineAt,
  type Cursor,
  type Fault,
  type LogLine,
} from './line.ts'

/** How far a scan got: the position after the last valid line, and what stopped it before the end, if anything. */
export interface ScanEnd {
  readonly cursor: Cursor
  readonly fault?: { readonly offset: number; readonly reason: Fault }
}

export interface ScanOptions {
  readonly session: SessionId
  /** See `decodeLine`. */
  readonly strict: boolean
  /**
   * The number of a line up to which schemas are not checked, because a head of ours covers them. The caller must compare
   * that line with the head before it uses any line.
   */
  readonly vouched?: number
  /** Where to begin. Default: the start of the file. */
  readonly from?: Cursor
  /** Receives all bytes read, before their lines are checked. */
  readonly visitBytes?: VisitBytes
}

/** Bytes of a file and their position; valid until the promise resolves. */
export type VisitBytes = (bytes: Buffer, position: number) => Promise<void>

export const LOG_START: Cursor = { offset: 0, seq: 0, prev: null }

/** Limits the memory of a scan: two pieces, and at most one line across pieces. */
const LARGEST_PIECE = 256 * 1024
/** The first read is small: often only a line or a short tail is needed. */
const FIRST_PIECE = 16 * 1024

/**
 * Reads forward once and passes each valid line to `visit`; stops before the first invalid line, and after the one for
 * which `visit` returned false.
 */
export async function scan(
  file: File,
  options: ScanOptions,
  visit: (line: LogLine) => void | false,
): Promise<ScanEnd> {
  let cursor = options.from ?? LOG_START
  let position = cursor.offset
  const framer = new LineFramer(LIMITS.event_line_bytes, position)
  for await (const piece of piecesOf(file, position)) {
    await options.visitBytes?.(piece, position)
    position += piece.length
    for (const framed of framer.push(piece)) {
      if ('overlong' in framed) return stop(cursor, 'overlong')
      const line = placeLine(framed.bytes, cursor, options)
      if (typeof line === 'string') return stop(cursor, line)
      cursor = line.next
      if (visit(line) === false) return { cursor }
    }
  }
  return framer.unfinished === 0 ? { cursor } : stop(cursor, 'unterminated')
}

/**
 * The file from `begin`, in pieces; a piece is valid until the next is requested. Sizes double, so that a short scan reads
 * little more than it needs. Large pieces are read ahead.
 */
async function* piecesOf(file: File, begin: number): AsyncGenerator<Buffer> {
  let position = begin
  let size = FIRST_PIECE
  let [used, other] = [Buffer.alloc(0), Buffer.alloc(0)]
  let ahead: Promise<number> | undefined
  const read = () => {
    if (other.length < size) other = Buffer.allocUnsafe(size)
    return file.read(other, position)
  }
  try {
    for (;;) {
      const count = await (ahead ?? read())
      ahead = undefined
      if (count === 0) return
      position += count
      const piece = other
      other = used
      used = piece
      if (size === LARGEST_PIECE) ahead = read()
      else size *= 2
      yield piece.subarray(0, count)
      // Asking for the size costs less than a read that finds the end.
      if (count < piece.length && position >= (await file.stat()).size) return
    }
  } finally {
    // The consumer may close the file after stopping early.
    if (ahead !== undefined) await ifPossible(ahead)
  }
}

function stop(cursor: Cursor, reason: Fault): ScanEnd {
  return { cursor, fault: { offset: cursor.offset, reason } }
}

/** The line at `cursor`, or why these bytes are not valid there. */
function placeLine(bytes: Buffer, cursor: Cursor, options: ScanOptions): LogLine | Fault {
  // The first line may be read before anything is known about the Log.
  const vouched = cursor.offset > 0 && cursor.seq <= (options.vouched ?? -1)
  const decoded = vouched ? decodeVouchedLine(bytes) : decodeLine(bytes, options.strict)
  if (!decoded.ok) return decoded.fault
  const { envelope, hash } = decoded
  if (envelope.session_id !== options.session) return 'other_session'
  const expected = cursor.offset === 0 ? firstPlace(envelope) : cursor
  if (envelope.seq !== expected.seq) return 'sequence'
  if (envelope.prev !== expected.prev) return 'chain'
  const logged = vouched ? vouchedEvent(envelope) : readEvent(envelope)
  return lineAt(logged, hash, cursor.offset, bytes.length)
}

/** A fork continues its parent's chain; its first line names the position. */
export function firstPlace(envelope: EventEnvelope): { seq: number; prev: string | null } {
  const logged = readEvent(envelope)
  if (!logged.known || logged.event.type !== 'session_fork') return LOG_START
  const { at_seq, at_hash } = logged.event.data
  return at_seq === undefined || at_hash === undefined
    ? LOG_START
    : { seq: at_seq + 1, prev: at_hash }
}
