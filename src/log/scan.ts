import { LineFramer } from '../encoding/lines.ts'
import { ifPossible, type File } from '../host/files/files.ts'
import { readEvent, type EventEnvelope } from '../model/events/event.ts'
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
  /** Gets all bytes that are read, before any line of them is judged. */
  readonly passing?: Passing
}

/** Bytes of a file and where they stand in it; good until it answers. */
export type Passing = (bytes: Buffer, position: number) => Promise<void>

export const LOG_START: Cursor = { offset: 0, seq: 0, prev: null }

/** Memory of a scan, whatever the Log's size: two pieces, and at most one line across pieces. */
const LARGEST_PIECE = 256 * 1024
/** The first read is small: often only a line or a short tail is wanted. */
const FIRST_PIECE = 16 * 1024

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
  let position = cursor.offset
  const framer = new LineFramer(LIMITS.event_line_bytes, position)
  for await (const piece of piecesOf(file, position)) {
    await options.passing?.(piece, position)
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
 * The file from `begin`, piece after piece; a piece is good until the next is asked for. Each is twice as large as the one
 * before, so that a short look reads little more than it looks at. Once they are large, the next one is read while one is
 * used.
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
    }
  } finally {
    // Whoever stops early may close the file next.
    if (ahead !== undefined) await ifPossible(ahead)
  }
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
  return lineAt(readEvent(envelope), hash, cursor.offset, bytes.length)
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
