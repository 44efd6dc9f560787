import { isUtf8 } from 'node:buffer'
import { checksumHolds, checksumLine, type ChecksumLine } from '../encoding/checksum-line.ts'
import { depthWithin, isJsonObject, parseJson } from '../encoding/json.ts'
import { sha256 } from '../encoding/hash.ts'
import { isEventEnvelope, type EventEnvelope, type LoggedEvent } from '../model/events/event.ts'
import type { EventId, SessionId, TurnId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { Inheritance } from './inherited.ts'

/** The position of the next line: its first byte, its number, and the hash it must name (null before the first). */
export interface Cursor {
  readonly offset: number
  readonly seq: number
  readonly prev: string | null
}

/** A valid line of a Log. `next` is the position after it. */
export interface LogLine {
  readonly content: LoggedEvent
  readonly seq: number
  readonly offset: number
  readonly hash: string
  readonly next: Cursor
  /** Of an inherited line: reads its long fields, as `logged` was read. */
  readonly inheritance?: Inheritance
}

/** What can be wrong at a position of a Log. */
export type Fault =
  | 'unterminated'
  | 'overlong'
  | 'version'
  | 'checksum'
  | 'not_utf8'
  | 'not_json'
  | 'not_canonical'
  | 'too_deep'
  | 'envelope'
  | 'other_session'
  | 'sequence'
  | 'chain'
  | 'head_missing'
  | 'head_differs'
  | 'parent_missing'

/** An Event without its position in the chain. `data` is already JSON text. */
export interface UnsealedEvent {
  readonly id: EventId
  readonly session_id: SessionId
  readonly turn_id?: TurnId
  readonly ts: string
  readonly type: string
  readonly data: string
}

/** The bytes of the line, including the newline. `batch` is its index in its write. */
export function sealLine(
  event: UnsealedEvent,
  seq: number,
  prev: string | null,
  batch: number,
): ChecksumLine {
  const turn = event.turn_id === undefined ? '' : `"turn_id":"${event.turn_id}",`
  const place = batch === 0 ? '' : `"batch":${batch},`
  const body =
    `{"v":1,"seq":${seq},"id":"${event.id}","session_id":"${event.session_id}",${turn}` +
    `"ts":"${event.ts}","type":${JSON.stringify(event.type)},"data":${event.data},${place}` +
    `"prev":${prev === null ? 'null' : `"${prev}"`}`
  return checksumLine(body)
}

export type DecodedLine =
  | { readonly ok: true; readonly envelope: EventEnvelope; readonly hash: string }
  | { readonly ok: false; readonly fault: Fault }

/**
 * Checks the bytes of one line on their own; the reader checks its position. `strict` also requires the exact form a writer
 * produces (no repeated keys, no other number or escape format), which a Log needs if no head on this machine covers its chain.
 */
export function decodeLine(bytes: Buffer, strict: boolean): DecodedLine {
  if (!isUtf8(bytes)) return { ok: false, fault: 'not_utf8' }
  if (!checksumHolds(bytes)) return { ok: false, fault: isNewer(bytes) ? 'version' : 'checksum' }
  const text = bytes.toString('utf8')
  const parsed = parseJson(text)
  if (parsed === undefined) return { ok: false, fault: 'not_json' }
  if (versionOf(parsed) > 1) return { ok: false, fault: 'version' }
  if (!depthWithin(parsed, LIMITS.event_depth)) return { ok: false, fault: 'too_deep' }
  if (!isEventEnvelope(parsed)) return { ok: false, fault: 'envelope' }
  if (strict && !isCanonical(parsed, text)) return { ok: false, fault: 'not_canonical' }
  return { ok: true, envelope: parsed, hash: sha256(bytes) }
}

/** A decoded line at its position in the file. `length` excludes the newline. */
export function lineAt(
  content: LoggedEvent,
  hash: string,
  offset: number,
  length: number,
): LogLine {
  const { seq } = content.event
  return {
    content,
    seq,
    offset,
    hash,
    next: { offset: offset + length + 1, seq: seq + 1, prev: hash },
  }
}

/** The format version of a line, 0 if absent. */
function versionOf(parsed: unknown): number {
  return isJsonObject(parsed) && Number.isInteger(parsed['v']) ? Number(parsed['v']) : 0
}

/**
 * Whether a newer version wrote the line, which may then end differently: such a line is not damage and is never cut off. A
 * line of this version with a corrupted version number is damage: with the right number, its checksum matches.
 */
function isNewer(bytes: Buffer): boolean {
  // Every version starts like this; checking it first avoids parsing garbage.
  if (!/^\{"v":[1-9]\d*[,}]/.test(bytes.toString('latin1', 0, 24))) return false
  const text = bytes.toString('utf8')
  if (versionOf(parseJson(text)) <= 1) return false
  return !checksumHolds(Buffer.from(text.replace(/^\{"v":\d+/, '{"v":1')))
}

function isCanonical(parsed: unknown, text: string): boolean {
  // A well-formed line has no escaped surrogate; the same characters after an escaped backslash are plain text.
  if (/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) return false
  return JSON.stringify(parsed) === text
}
