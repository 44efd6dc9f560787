import { sha256 } from '../encoding/hash.ts'
import { depthWithin, isJsonObject, parseJson, wellFormedJson } from '../encoding/json.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { EventDraft, EventEnvelope } from '../model/event.ts'
import type { SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { lineAt, sealLine, type Cursor, type LogLine, type Unsealed } from './line.ts'
import type { LogPlace } from './place.ts'
import { spill, type KeepBlob } from './spill.ts'

/** An Event that will fit the Log, whatever place it gets. `data` is what a reader of `unsealed` will see. */
export interface Prepared {
  readonly unsealed: Unsealed
  readonly data: Record<string, unknown>
  /** An upper bound of the line's length. */
  readonly bytes: number
}

/** A line and the bytes it is, without their newline. */
export interface SealedLine {
  readonly line: LogLine
  readonly bytes: Buffer
}

/** What stands around `data` in a line, at its longest. */
const ENVELOPE_BYTES = 512

/** Gives drafts their ids and times, moves what is too large into blobs, and refuses what a Log must not hold. */
export async function prepare(
  place: LogPlace,
  session: SessionId,
  drafts: readonly EventDraft[],
  keep: KeepBlob,
): Promise<Result<readonly Prepared[]>> {
  const prepared: Prepared[] = []
  const ts = new Date(place.clock.now()).toISOString()
  for (const draft of drafts) {
    const text = await fittingData(draft, keep)
    if (!text.ok) return text
    // Read back, so that the live state is a fold of what a later reader will see, whatever the caller does to its object.
    const data = parseJson(text.value)
    if (!isJsonObject(data)) return refused(draft, 'has no object as its data')
    const { type, turn_id } = draft
    const turn = turn_id === undefined ? {} : { turn_id }
    const unsealed = {
      id: place.ids.event(),
      session_id: session,
      ...turn,
      ts,
      type,
      data: text.value,
    }
    const bytes = Buffer.byteLength(text.value) + ENVELOPE_BYTES
    prepared.push({ unsealed, data, bytes })
  }
  return ok(prepared)
}

/** An Event of another Log, ready for this one. It was read from a line, so it fits one. */
export function restored(session: SessionId, event: EventEnvelope): Prepared {
  const { id, turn_id, ts, type } = event
  const data = wellFormedJson(event.data)
  const turn = turn_id === undefined ? {} : { turn_id }
  const unsealed = { id, session_id: session, ...turn, ts, type, data }
  return { unsealed, data: event.data, bytes: Buffer.byteLength(data) + ENVELOPE_BYTES }
}

/** The line that a prepared Event becomes at `cursor`, equal to what a reader of the file gets. */
export function sealedLine(
  { unsealed, data }: Prepared,
  cursor: Cursor,
  batch: number,
): SealedLine {
  const { bytes, crc } = sealLine(unsealed, cursor.seq, cursor.prev, batch)
  const place = batch === 0 ? {} : { batch }
  const envelope = {
    ...unsealed,
    v: 1 as const,
    seq: cursor.seq,
    data,
    ...place,
    prev: cursor.prev,
    crc,
  }
  return { bytes, line: lineAt(envelope, sha256(bytes), cursor.offset, bytes.length) }
}

/** Data as JSON text that fits a line. */
async function fittingData(draft: EventDraft, keep: KeepBlob): Promise<Result<string>> {
  // One level is the line's own.
  if (!depthWithin(draft.data, LIMITS.event_depth - 1))
    return refused(draft, 'is nested too deeply')
  const text = wellFormedJson(draft.data)
  if (Buffer.byteLength(text) <= LIMITS.event_field_bytes) return ok(text)
  const spilled = await spill(draft.data, keep)
  if (!spilled.ok) return spilled
  const fitting = wellFormedJson(spilled.value)
  const bytes = Buffer.byteLength(fitting) + ENVELOPE_BYTES
  return bytes <= LIMITS.event_line_bytes ? ok(fitting) : refused(draft, 'is too long for a line')
}

function refused(draft: EventDraft, why: string): Failed {
  return failed('too_large', `An Event of type ${draft.type} ${why}.`, { type: draft.type })
}
