import { sha256 } from '../encoding/hash.ts'
import { IdFilter } from '../encoding/id-filter.ts'
import type { EventEnvelope, WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import { utf8Bytes } from '../model/shape.ts'
import { historyOf, type History, type ResumeState } from './history.ts'
import { withoutCalls } from './without-calls.ts'

type EarlierKeys = NonNullable<ResumeState['message_keys']>

const MOST_HASHES = 256
const HASH_DIGITS = 16
/** 32 Ki bits: of 5,000 older keys, less than five percent of new keys are looked up in the Log without a match. */
const FILTER_BYTES = 4 * 1024

/**
 * The Turn of the message with this key; `maybe_earlier` if only the Log can tell, because the Turn may be among those that
 * a checkpoint replaced; `undefined` if there is none. A Turn whose message was lost in a crash before it was durable does
 * not count: nothing of it ran. `key` is the key as recorded: a Log is redacted. Pure.
 */
export function turnOfKey(
  events: readonly WholeEvent[],
  key: string,
): TurnId | 'maybe_earlier' | undefined {
  return rawTurn(events, key) ?? (mayBeEarlier(events, key) ? 'maybe_earlier' : undefined)
}

/**
 * The keys of the state and of the Events after it; `undefined` without any. They have at most `bytes` as JSON: hashes that
 * do not fit are only in the filter. If not even the filter fits, it is empty, so that no key is forgotten.
 */
export function keysAfter(
  { state: { message_keys: before }, events }: Pick<History, 'state' | 'events'>,
  bytes: number,
): EarlierKeys | undefined {
  const hashes = [...(before?.newest ?? []), ...events.flatMap(keyHash)]
  const all = { ...before, newest: hashes }
  if (hashes.length === 0 && before?.filter === undefined) return undefined
  if (hashes.length <= MOST_HASHES && jsonBytes(all) <= bytes) return all
  const filter = new IdFilter(before?.filter, FILTER_BYTES)
  const alone = jsonBytes({ newest: [], filter: filter.toBase64() })
  if (alone > bytes) return { newest: [], filter: '' }
  const kept = Math.min(hashes.length, MOST_HASHES, Math.floor((bytes - alone) / HASH_BYTES))
  const older = hashes.length - kept
  for (const hash of hashes.slice(0, older)) filter.add(hash)
  return { newest: hashes.slice(older), filter: filter.toBase64() }
}

function rawTurn(events: readonly WholeEvent[], key: string): TurnId | undefined {
  const started = withoutCalls(events).flatMap(({ type, turn_id, data }) =>
    type === 'turn_started' && turn_id !== undefined && data.source.message_key === key
      ? [turn_id]
      : [],
  )
  return started.find((turn) => events.some((event) => provesMessage(event, turn)))
}

/**
 * Whether this Event of the Turn was recorded together with its message, or after it. The message itself may be missing in a
 * salvaged Log. Pure.
 */
export function provesMessage(
  { type, turn_id }: Pick<EventEnvelope, 'type' | 'turn_id'>,
  turn: TurnId,
): boolean {
  return turn_id === turn && type !== 'turn_started' && type !== 'turn_ended'
}

/** Also if these Events do not begin where the state ends, or a checkpoint from elsewhere has no state. */
function mayBeEarlier(events: readonly WholeEvent[], key: string): boolean {
  const { checkpoint } = historyOf(events)
  const state = checkpoint?.data.state
  const from_seq = checkpoint?.data.tail.from_seq ?? 0
  if ((events[0]?.seq ?? 0) > from_seq) return true
  if (state === undefined) return checkpoint !== undefined
  const { newest, filter } = state.message_keys ?? { newest: [] }
  const hash = hashOf(key)
  if (newest.includes(hash)) return true
  return filter !== undefined && new IdFilter(filter, FILTER_BYTES).mayContain(hash)
}

function keyHash(event: WholeEvent): string[] {
  if (event.type !== 'turn_started') return []
  const { message_key } = event.data.source
  return message_key === undefined ? [] : [hashOf(message_key)]
}

function hashOf(key: string): string {
  return sha256(key).slice(0, HASH_DIGITS)
}

/** With its quotes and a comma. */
const HASH_BYTES = HASH_DIGITS + 3

function jsonBytes(keys: EarlierKeys): number {
  return utf8Bytes(JSON.stringify(keys))
}
