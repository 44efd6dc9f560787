import { isUtf8 } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { depthWithin, isJsonObject, parseJson } from '../encoding/json.ts'
import { sha256 } from '../encoding/hash.ts'
import { isEventEnvelope, type EventEnvelope, type LoggedEvent } from '../model/events/event.ts'
import type { EventId, SessionId, TurnId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'

/** Where a next line goes: its first byte, its number, and the hash it has to name (null before the very first). */
export interface Cursor {
  readonly offset: number
  readonly seq: number
  readonly prev: string | null
}

/** One line of a Log that was read and found good. `next` is the place behind it. */
export interface LogLine {
  readonly logged: LoggedEvent
  readonly seq: number
  readonly offset: number
  readonly hash: string
  readonly next: Cursor
}

/** What can be wrong with the bytes at a place of a Log. */
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

/** An Event ready for the Log but for its place in the chain. `data` is JSON text already. */
export interface Unsealed {
  readonly id: EventId
  readonly session_id: SessionId
  readonly turn_id?: TurnId
  readonly ts: string
  readonly type: string
  readonly data: string
}

/** The line's bytes, its newline included. `batch` is its place in the one write it belongs to. */
export function sealLine(
  event: Unsealed,
  seq: number,
  prev: string | null,
  batch: number,
): { bytes: Buffer; crc: string } {
  const turn = event.turn_id === undefined ? '' : `"turn_id":"${event.turn_id}",`
  const place = batch === 0 ? '' : `"batch":${batch},`
  const body =
    `{"v":1,"seq":${seq},"id":"${event.id}","session_id":"${event.session_id}",${turn}` +
    `"ts":"${event.ts}","type":${JSON.stringify(event.type)},"data":${event.data},${place}` +
    `"prev":${prev === null ? 'null' : `"${prev}"`}`
  const length = Buffer.byteLength(body)
  const bytes = Buffer.allocUnsafe(length + TAIL_LENGTH + 1)
  bytes.write(body, 'utf8')
  const crc = crc32(bytes.subarray(0, length)).toString(16).padStart(8, '0')
  bytes.write(`,"crc":"${crc}"}\n`, length, 'latin1')
  return { bytes, crc }
}

export type Decoded =
  | { readonly ok: true; readonly envelope: EventEnvelope; readonly hash: string }
  | { readonly ok: false; readonly fault: Fault }

/**
 * Judges the bytes of one line by themselves; whether it belongs where it stands is the reader's to say. `strict` also
 * demands the one spelling that a writer produces (no repeated key, no other number or escape), which a Log needs whose
 * chain no head of ours vouches for.
 */
export function decodeLine(bytes: Buffer, strict: boolean): Decoded {
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

/** A decoded line at its place in the file. `length` is without the newline. */
export function lineAt(logged: LoggedEvent, hash: string, offset: number, length: number): LogLine {
  const { seq } = logged.event
  return {
    logged,
    seq,
    offset,
    hash,
    next: { offset: offset + length + 1, seq: seq + 1, prev: hash },
  }
}

const CHECKSUM_TAIL = /^,"crc":"([0-9a-f]{8})"\}$/
const TAIL_LENGTH = ',"crc":"01234567"}'.length

/** The checksum stands last, so the bytes it covers are known before anything is parsed. */
function checksumHolds(bytes: Buffer): boolean {
  const body = bytes.length - TAIL_LENGTH
  if (body <= 0) return false
  const told = CHECKSUM_TAIL.exec(bytes.toString('latin1', body))
  return told?.[1] !== undefined && parseInt(told[1], 16) === crc32(bytes.subarray(0, body))
}

/** The format version a line claims, 0 when it claims none. */
function versionOf(parsed: unknown): number {
  return isJsonObject(parsed) && Number.isInteger(parsed['v']) ? Number(parsed['v']) : 0
}

/**
 * A line of a newer Hawser, which may end otherwise than ours, is not damage to be cut off. One of ours whose version alone
 * was spoilt is: with the right number its checksum holds again.
 */
function isNewer(bytes: Buffer): boolean {
  // Every version begins like this; so garbage, of which there may be much, is not parsed.
  if (!/^\{"v":[1-9]\d*[,}]/.test(bytes.toString('latin1', 0, 24))) return false
  const text = bytes.toString('utf8')
  if (versionOf(parseJson(text)) <= 1) return false
  return !checksumHolds(Buffer.from(text.replace(/^\{"v":\d+/, '{"v":1')))
}

function isCanonical(parsed: unknown, text: string): boolean {
  // Written well formed, a line has no escaped surrogate; the same letters behind an escaped backslash are only text.
  if (/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) return false
  return JSON.stringify(parsed) === text
}
