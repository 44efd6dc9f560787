import { sha256 } from '../encoding/hash.ts'
import { depthWithin, isJsonObject, parseJson, wellFormedJson } from '../encoding/json.ts'
import { timestamp } from '../host/clock.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import {
  judgedEvent,
  unknownBecause,
  type EventDraft,
  type EventEnvelope,
  type UnknownEvent,
} from '../model/events/event.ts'
import type { EventId, SessionId, TurnId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { lineAt, sealLine, type Cursor, type LogLine, type UnsealedEvent } from './line.ts'
import type { LogPlace } from './place.ts'
import { spill, type KeepBlob } from './spill.ts'

/** An Event that fits the Log at any position. `data` is what a reader of `unsealed` will see. */
export interface PreparedEvent {
  readonly event: UnsealedEvent
  readonly data: Record<string, unknown>
  /** Why readers of this version skip it: only an Event of another Log may be unknown. */
  readonly unknown: UnknownEvent['why'] | undefined
  /** An upper bound of the line's length. */
  readonly bytes: number
}

/** Synchronous, or a promise if blobs must be stored first. */
export type Preparation =
  | Result<readonly PreparedEvent[]>
  | Promise<Result<readonly PreparedEvent[]>>

/** A line and its bytes, including the newline. */
export interface SealedLine {
  readonly line: LogLine
  readonly bytes: Buffer
}

/** The maximum size of a line without `data`. */
const ENVELOPE_BYTES = 512

/**
 * Assigns ids and times, moves large fields into blobs, and refuses Events that exceed the limits or do not match their
 * schema. Asynchronous only if something is moved, so that appends made in response to one commit are ready together for
 * the next.
 */
export function prepare(
  place: LogPlace,
  session: SessionId,
  drafts: readonly EventDraft[],
  keep: KeepBlob,
): Preparation {
  const ts = timestamp(place.clock)
  const prepared: PreparedEvent[] = []
  for (const draft of drafts) {
    const text = fittingText(draft)
    if (text === undefined) return prepareSpilling(place, session, drafts, keep, ts)
    const one = text.ok ? preparedOf(place, session, draft, ts, text.value) : text
    if (!one.ok) return one
    prepared.push(one.value)
  }
  return ok(prepared)
}

async function prepareSpilling(
  place: LogPlace,
  session: SessionId,
  drafts: readonly EventDraft[],
  keep: KeepBlob,
  ts: string,
): Promise<Result<readonly PreparedEvent[]>> {
  const prepared: PreparedEvent[] = []
  for (const draft of drafts) {
    const text = fittingText(draft) ?? (await spilledText(draft, keep))
    const one = text.ok ? preparedOf(place, session, draft, ts, text.value) : text
    if (!one.ok) return one
    prepared.push(one.value)
  }
  return ok(prepared)
}

function preparedOf(
  place: LogPlace,
  session: SessionId,
  draft: EventDraft,
  ts: string,
  text: string,
): Result<PreparedEvent> {
  // Parsed again, so that the live state is a fold of what a later reader sees, whatever the caller does to its object.
  const data = parseJson(text)
  if (!isJsonObject(data)) return refusedDraft(draft, 'has data that is not an object')
  shareTexts(data, draft.data)
  const { type, turn_id } = draft
  const unknown = unknownBecause(type, data)
  if (unknown !== undefined) return unreadable(draft, unknown)
  const event = unsealedOf(place.ids.event(), session, turn_id, ts, type, text)
  return ok({ event, data, unknown, bytes: Buffer.byteLength(text) + ENVELOPE_BYTES })
}

/** Fields whose text repeats from Event to Event. */
const REPEATED = ['cache_key', 'call_id', 'model', 'pressure'] as const

/** Events stay in memory, so a repeated text is kept once: parsing has copied it. */
function shareTexts(data: Record<string, unknown>, source: EventDraft['data']): void {
  const own: Readonly<Record<string, unknown>> = source
  for (const field of REPEATED) {
    if (typeof data[field] === 'string' && data[field] === own[field]) data[field] = own[field]
  }
}

/** An Event of another Log, prepared for this one. It was read from a line, so it fits one. */
export function restoreEvent(session: SessionId, event: EventEnvelope): PreparedEvent {
  const { id, turn_id, ts, type, data } = event
  const text = wellFormedJson(data)
  const unsealed = unsealedOf(id, session, turn_id, ts, type, text)
  const bytes = Buffer.byteLength(text) + ENVELOPE_BYTES
  return { event: unsealed, data, unknown: unknownBecause(type, data), bytes }
}

/** The line of a prepared Event at `cursor`, identical to what a reader of the file gets. */
export function sealedLine(
  { event, data, unknown }: PreparedEvent,
  { seq, prev, offset }: Cursor,
  batch: number,
): SealedLine {
  const { bytes, crc } = sealLine(event, seq, prev, batch)
  const length = bytes.length - 1
  const envelope = envelopeOf({ event, data, seq, prev, batch, crc })
  const hash = sha256(bytes.subarray(0, length))
  return { bytes, line: lineAt(judgedEvent(envelope, unknown), hash, offset, length) }
}

interface PlacedEvent extends Pick<PreparedEvent, 'event' | 'data'>, Pick<Cursor, 'seq' | 'prev'> {
  readonly batch: number
  readonly crc: string
}

/** Lists the fields instead of spreading: this runs for every Event, and spread objects are large and slow to access. */
function envelopeOf({ event, data, seq, prev, batch, crc }: PlacedEvent): EventEnvelope {
  const { id, session_id, turn_id, ts, type } = event
  if (turn_id === undefined) {
    return batch === 0
      ? { v: 1, seq, id, session_id, ts, type, data, prev, crc }
      : { v: 1, seq, id, session_id, ts, type, data, batch, prev, crc }
  }
  return batch === 0
    ? { v: 1, seq, id, session_id, turn_id, ts, type, data, prev, crc }
    : { v: 1, seq, id, session_id, turn_id, ts, type, data, batch, prev, crc }
}

function unsealedOf(
  id: EventId,
  session_id: SessionId,
  turn_id: TurnId | undefined,
  ts: string,
  type: string,
  data: string,
): UnsealedEvent {
  return turn_id === undefined
    ? { id, session_id, ts, type, data }
    : { id, session_id, turn_id, ts, type, data }
}

/** Data as JSON text that fits a line; `undefined` if a field must move to a blob. */
function fittingText(draft: EventDraft): Result<string> | undefined {
  // The line itself adds one level.
  if (!depthWithin(draft.data, LIMITS.event_depth - 1))
    return refusedDraft(draft, 'is nested too deeply')
  const text = wellFormedJson(draft.data)
  return Buffer.byteLength(text) <= LIMITS.event_field_bytes ? ok(text) : undefined
}

async function spilledText(draft: EventDraft, keep: KeepBlob): Promise<Result<string>> {
  const spilled = await spill(draft.data, keep)
  if (!spilled.ok) return spilled
  const text = wellFormedJson(spilled.value)
  const bytes = Buffer.byteLength(text) + ENVELOPE_BYTES
  return bytes <= LIMITS.event_line_bytes ? ok(text) : refusedDraft(draft, 'is too long for a line')
}

function refusedDraft(draft: EventDraft, why: string): Failed {
  return failed('too_large', `An Event of type ${draft.type} ${why}.`, { type: draft.type })
}

/** Readers would skip it, so acknowledging it would lose it: a defect of the code that made the draft. */
function unreadable({ type }: EventDraft, why: UnknownEvent['why']): Failed {
  const text = `An Event of type ${type} does not match the schema of its type, so it was not recorded.`
  return failed('internal', text, { type, why }, [
    { action: 'This is a bug in Hawser: report it with the last actions of the Session.' },
  ])
}
