import { isAscii, isUtf8 } from 'node:buffer'
import { sha256 } from '../encoding/hash.ts'
import { isJsonObject, parseJson } from '../encoding/json.ts'
import { LineFramer } from '../encoding/lines.ts'
import { ifPossible } from '../host/files/files.ts'
import {
  EVENT_TYPES,
  readEvent,
  vouchedEvent,
  type EventEnvelope,
  type EventType,
  type LoggedEvent,
} from '../model/events/event.ts'
import type { SessionId, TurnId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { HeadRecord } from './head-record.ts'
import type { Inheritance } from './inherited.ts'
import type { Lineage } from './lineage.ts'
import { decodeLine, lineAt, type Cursor, type Fault, type LogLine } from './line.ts'
import type { ReadableLog, VisitBytes } from './log-store.ts'

/** How far a scan got: the position after the last valid line, and what stopped it before the end, if anything. */
export interface ScanEnd {
  readonly cursor: Cursor
  readonly fault?: { readonly offset: number; readonly reason: Fault }
}

export interface ScanOptions {
  readonly session: SessionId
  /** See `decodeLine`. */
  readonly strict: boolean
  /** Where to begin. Default: the start of the file. */
  readonly from?: Cursor
  /** Receives all bytes read, before their lines are checked. */
  readonly visitBytes?: VisitBytes
}

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
  file: ReadableLog,
  options: ScanOptions,
  visit: (line: LogLine) => void | false,
): Promise<ScanEnd> {
  let cursor = placeIn(file, options.from)
  let position = cursor.offset
  const framer = new LineFramer(LIMITS.event_line_bytes, position)
  for await (const piece of piecesOf(file, position)) {
    await options.visitBytes?.(piece, position)
    position += piece.length
    for (const framed of framer.push(piece)) {
      if ('overlong' in framed) return stop(cursor, 'overlong')
      const line = placeLine(framed.bytes, cursor, options, file.lineage)
      if (typeof line === 'string') return stop(cursor, line)
      cursor = line.next
      if (visit(line) === false) return { cursor }
    }
  }
  return framer.pendingBytes === 0 ? { cursor } : stop(cursor, 'unterminated')
}

/** Where a reading begins: by default, and for the start of a Log, at the first line of its lineage. */
export function placeIn({ lineage }: ReadableLog, from: Cursor = LOG_START): Cursor {
  return from.offset === 0 ? (lineage?.start ?? from) : from
}

/**
 * The file from `begin`, in pieces; a piece is valid until the next is requested. Sizes double, so that a short scan reads
 * little more than it needs. Large pieces are read ahead.
 */
async function* piecesOf(file: ReadableLog, begin: number): AsyncGenerator<Buffer> {
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
function placeLine(
  bytes: Buffer,
  cursor: Cursor,
  options: ScanOptions,
  lineage: Lineage | undefined,
): LogLine | Fault {
  const decoded = decodeLine(bytes, options.strict)
  if (!decoded.ok) return decoded.fault
  const { envelope, hash } = decoded
  if (envelope.session_id !== ownerAt(cursor, options, lineage)) return 'other_session'
  const expected = cursor.offset === 0 ? firstPlace(envelope) : cursor
  if (envelope.seq !== expected.seq) return 'sequence'
  if (envelope.prev !== expected.prev) return 'chain'
  return readLine({ envelope, hash }, cursor.offset, bytes.length, lineage)
}

function ownerAt(
  { offset }: Cursor,
  { session }: ScanOptions,
  lineage: Lineage | undefined,
): SessionId | undefined {
  return lineage === undefined ? session : lineage.ownerOf(offset)
}

/** A line in its place, as its reader sees it. */
export function readLine(
  { envelope, hash }: { readonly envelope: EventEnvelope; readonly hash: string },
  offset: number,
  length: number,
  lineage: Lineage | undefined,
): LogLine {
  const inheritance = lineage?.inheritanceOf(offset)
  if (inheritance === undefined) return lineAt(readEvent(envelope), hash, offset, length)
  const logged = readEvent(inheritance.event(envelope))
  return { ...lineAt(logged, hash, offset, length), inheritance }
}

/** A fork continues its parent's chain; its first line names the position. */
export function firstPlace(envelope: EventEnvelope): { seq: number; prev: string | null } {
  const logged = readEvent(envelope)
  if (!logged.isKnown || logged.event.type !== 'session_fork') return LOG_START
  const { at_seq, at_hash } = logged.event.data
  return at_seq === undefined || at_hash === undefined
    ? LOG_START
    : { seq: at_seq + 1, prev: at_hash }
}

/**
 * The lines from `from` up to a head on this machine, which says that each matches its schema. Hashes alone verify them: every line
 * names the hash of the one before it, and the head that of the last. So neither checksums nor schemas are checked again.
 * `undefined` if the lines do not lead to the head: then nothing is known about any of them.
 */
export async function vouchedLines(
  file: ReadableLog,
  { from: wanted, ...options }: ScanOptions,
  head: HeadRecord,
): Promise<LogLine[] | undefined> {
  const from = placeIn(file, wanted)
  if (from.offset >= head.offset) return undefined
  const lines: LogLine[] = []
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE, head.offset - from.offset))
  let cursor = from
  /** Bytes of an unfinished line at the start of the buffer. */
  let carried = 0
  for (let position = from.offset; position < head.offset;) {
    const rest = head.offset - position
    const read = await file.read(buffer.subarray(carried, carried + rest), position)
    // The file is shorter than its head says, or has a line that no writer of Hawser writes.
    if (read === 0) return undefined
    position += read
    const filled = carried + read
    const end = buffer.lastIndexOf(NEWLINE, filled - 1) + 1
    const after = takeLines(buffer.subarray(0, end), cursor, { ...options, file }, lines)
    if (after === undefined) return undefined
    cursor = after
    buffer.copyWithin(0, end, filled)
    carried = filled - end
  }
  return cursor.offset === head.offset && cursor.prev === head.hash ? lines : undefined
}

const NEWLINE = 10
/** Longer than any line. V8 keeps the text of so many bytes outside its heap. */
const PIECE = 2 * LIMITS.event_line_bytes

/** Adds whole lines to `lines` and returns the position after them; `undefined` if one is not in its place. */
function takeLines(
  bytes: Buffer,
  from: Cursor,
  options: ScanOptions & { readonly file: ReadableLog },
  lines: LogLine[],
): Cursor | undefined {
  // One text for all lines: converting each is slower. Only valid UTF-8 has the same bytes as its text.
  const ascii = isAscii(bytes)
  if (!ascii && !isUtf8(bytes)) return undefined
  const text = bytes.toString(ascii ? 'latin1' : 'utf8')
  let cursor = from
  let turn: TurnId | undefined
  const { lineage } = options.file
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start)
    const line = text.slice(start, end)
    const length = ascii ? line.length : Buffer.byteLength(line)
    if (length > LIMITS.event_line_bytes) return undefined
    const owner = ownerAt(cursor, options, lineage)
    const inheritance = lineage?.inheritanceOf(cursor.offset)
    const logged =
      cursor.offset === 0 || owner === undefined
        ? undefined
        : coveredEvent(line, { ...cursor, owner, inheritance }, turn)
    turn = logged?.event.turn_id ?? turn
    const placed =
      cursor.offset === 0
        ? loneLine(line, options)
        : logged && inheritedLine(lineAt(logged, sha256(line), cursor.offset, length), inheritance)
    if (placed === undefined) return undefined
    lines.push(placed)
    cursor = placed.next
    start = end + 1
  }
  return cursor
}

/** Checked like any line: it decides where the chain begins. */
function loneLine(
  line: string,
  options: ScanOptions & { readonly file: ReadableLog },
): LogLine | undefined {
  const placed = placeLine(Buffer.from(line), LOG_START, options, options.file.lineage)
  return typeof placed === 'string' ? undefined : placed
}

function inheritedLine(line: LogLine, inheritance: Inheritance | undefined): LogLine {
  return inheritance === undefined ? line : { ...line, inheritance }
}

interface CoveredPlace extends Cursor {
  readonly owner: SessionId
  readonly inheritance: Inheritance | undefined
}

/**
 * The Event of a line behind the first; `undefined` if it is not in its place. To save memory, what nearly all lines repeat is
 * one string for all of them.
 */
function coveredEvent(
  line: string,
  { seq, prev, owner: session, inheritance }: CoveredPlace,
  turn: TurnId | undefined,
): LoggedEvent | undefined {
  const event = parseJson(line)
  if (!isJsonObject(event) || event['seq'] !== seq) return undefined
  if (event['prev'] !== prev || event['session_id'] !== session) return undefined
  if (typeof event['type'] !== 'string') return undefined
  event['prev'] = prev
  event['session_id'] = session
  event['type'] = TYPES.get(event['type']) ?? event['type']
  if (turn !== undefined && event['turn_id'] === turn) event['turn_id'] = turn
  assertOurs(event)
  return vouchedEvent(inheritance?.event(event) ?? event)
}

/** The types as the code names them: comparing a name with another string of the same text takes longer. */
const TYPES = new Map<string, EventType>(EVENT_TYPES.map((type) => [type, type]))

/** Narrows the type: it is our writer's line if the chain leads to the head, and not used otherwise. */
function assertOurs(_event: object): asserts _event is EventEnvelope {}
