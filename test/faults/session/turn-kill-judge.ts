import { canonicalJson } from '../../../src/encoding/json.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { TurnId } from '../../../src/model/ids.ts'
import { addUsage, NO_USAGE } from '../../../src/turn/usage.ts'
import { callKey, type Action } from './turn-kill-scene.ts'

export interface ReadLine {
  readonly hash: string
  readonly event: WholeEvent
}

/** All lines of a Log, in order. */
export type Reading = readonly ReadLine[]

/** The record of successive processes on one Session. */
export interface Evidence {
  /** Hash by number of each line that was reported durable to a process. */
  readonly durable: ReadonlyMap<number, string>
  /** The Log after the end of each process, before the next one started. */
  readonly readings: readonly Reading[]
  readonly actions: readonly Action[]
  /** How often each effect was found at the end, by `callKey`. */
  readonly effects: ReadonlyMap<string, number>
}

/** False or missing statements in the Log, and effects that must not happen; empty if there are none. */
export function offencesIn(evidence: Evidence): string[] {
  const last = evidence.readings.at(-1) ?? []
  const turns = last.flatMap(({ event }) => (event.type === 'turn_started' ? [event.turn_id] : []))
  return [
    ...lostLines(evidence),
    ...turns.flatMap((turn) => turnOffences(evidence, turn)),
    ...unexpectedActions(evidence),
    ...countOffences(evidence),
  ]
}

function lostLines({ durable, readings }: Evidence): string[] {
  const hashes = readings.map(
    (reading) => new Map(reading.map(({ hash, event }) => [event.seq, hash])),
  )
  const lost = [...durable].filter(([seq, hash]) => hashes.at(-1)?.get(seq) !== hash)
  const changed = hashes
    .slice(1)
    .flatMap((later, at) =>
      [...(hashes[at] ?? [])].filter(([seq, hash]) => later.get(seq) !== hash),
    )
  return [
    ...lost.map(([seq]) => `line ${seq} was durable and is lost`),
    ...changed.map(([seq]) => `line ${seq} was read and is another one`),
  ]
}

/** A Turn that its process ended has its own end; any other was ended by the next process, which adds nothing unknown. */
function turnOffences({ readings }: Evidence, turn: TurnId | undefined): string[] {
  const of = (reading: Reading) =>
    reading.flatMap(({ event }) => (event.turn_id === turn ? [event] : []))
  const then = readings.map(of).find((events) => events.length > 0) ?? []
  const own = of(readings.at(-1) ?? [])
  const expected: { status: string; crash_recovered?: boolean } = then.some(
    ({ type }) => type === 'turn_ended',
  )
    ? { status: 'completed' }
    : { status: 'interrupted', crash_recovered: true }
  const ends = own.flatMap((event) => (event.type === 'turn_ended' ? [event] : []))
  const [end] = ends
  if (end === undefined) return [`${turn} has no end`]
  const { usage_total, ...ended } = end.data
  const isLost = expected.crash_recovered === true && then.at(-1)?.type === 'provider_request'
  const spent = own.reduce(
    (sum, event) =>
      event.type === 'provider_usage'
        ? addUsage(sum, { usage: event.data.usage, cost: event.data.cost_usd })
        : sum,
    isLost ? { ...NO_USAGE, unknown_calls: 1 } : NO_USAGE,
  )
  return [
    ...(ends.length > 1 ? [`${turn} has ${ends.length} ends`] : []),
    ...(own.at(-1) === end ? [] : [`${turn} goes on after its end`]),
    ...(alike(ended, expected) ? [] : [`${turn} ended as ${canonicalJson(ended)}`]),
    ...(alike(usage_total, spent) ? [] : [`${turn} adds up its usage wrongly`]),
    ...resultOffences(then, own),
  ]
}

function resultOffences(then: readonly WholeEvent[], own: readonly WholeEvent[]): string[] {
  const results = (events: readonly WholeEvent[], id: string) =>
    events.flatMap((e) => (e.type === 'tool_result' && e.data.call_id === id ? [e.data] : []))
  const calls = own.flatMap((event) => (event.type === 'tool_call' ? [event] : []))
  const known = new Set(calls.map(({ data }) => data.call_id))
  const stray = own.filter((e) => e.type === 'tool_result' && !known.has(e.data.call_id))
  return [
    ...stray.map(({ seq }) => `result ${seq} has no call`),
    ...calls.flatMap(({ seq, data: { call_id, name } }) => {
      const found = results(own, call_id)
      const expected = results(then, call_id).length > 0 ? 'ok' : 'unknown'
      const wrong = found.filter(({ outcome }) => outcome !== expected)
      return [
        ...(found.length === 1 ? [] : [`call ${seq} of ${name} has ${found.length} results`]),
        ...wrong.map(({ outcome }) => `call ${seq} of ${name} is ${outcome}, not ${expected}`),
      ]
    }),
  ]
}

const QUIET = new Set(['read', 'glob', 'grep'])

/** Before an effect, the Log has its intention and its permission; and no process repeats what another one began. */
function unexpectedActions({ readings, actions }: Evidence): string[] {
  return actions.flatMap(({ by, what, of }): string[] => {
    if (what === 'shown') return []
    const before = readings[by - 1]?.length ?? 0
    const own = (readings[by] ?? []).slice(before).map(({ event }) => event)
    if (what === 'sent') {
      const meant = own.some((e) => e.type === 'provider_request' && e.data.request_sha256 === of)
      return meant ? [] : ['a request was sent that the Log does not have']
    }
    const call = callsOf(own, of)[0]
    if (call === undefined) return [`process ${by} ran a call that it did not request: ${of}`]
    const allowed = own.some(
      (e) =>
        e.type === 'permission_decision' &&
        e.data.call_id === call.data.call_id &&
        e.data.decision === 'allowed' &&
        e.seq > call.seq,
    )
    return allowed || QUIET.has(call.data.name) ? [] : [`ran without permission: ${of}`]
  })
}

/** No effect happened more often than requested, or less often than recorded in the Log. */
function countOffences({ readings, actions, effects }: Evidence): string[] {
  const events = (readings.at(-1) ?? []).map(({ event }) => event)
  const done = new Set(
    events.flatMap((e) =>
      e.type === 'tool_result' && e.data.outcome === 'ok' ? [e.data.call_id] : [],
    ),
  )
  const times = (what: Action['what'], key: string) =>
    actions.filter((action) => action.what === what && action.of === key).length
  const called = events.flatMap((e) =>
    e.type === 'tool_call' ? [callKey(e.data.name, e.data.arguments)] : [],
  )
  const sent = actions.flatMap(({ what, of }) => (what === 'sent' ? [of] : []))
  return [
    ...[...new Set(sent)]
      .filter((hash) => times('sent', hash) > 1)
      .map((hash) => `request ${hash} was sent ${times('sent', hash)} times`),
    ...[...new Set([...called, ...effects.keys()])].flatMap((key) => {
      const calls = callsOf(events, key)
      const recorded = calls.filter(({ data }) => done.has(data.call_id)).length
      const [starts, ends] = [times('start', key), times('end', key)]
      const found = effects.get(key) ?? recorded
      return [
        ...(starts > calls.length
          ? [`called ${calls.length} times and ran ${starts}: ${key}`]
          : []),
        ...(ends < recorded ? [`recorded ${recorded} times and ran ${ends}: ${key}`] : []),
        ...(found < recorded ? [`recorded ${recorded} times and found ${found}: ${key}`] : []),
        ...(found > starts ? [`ran ${starts} times and found ${found}: ${key}`] : []),
        ...(found > calls.length
          ? [`called ${calls.length} times and found ${found}: ${key}`]
          : []),
      ]
    }),
  ]
}

function callsOf(events: readonly WholeEvent[], key: string): WholeEvent<'tool_call'>[] {
  return events.flatMap((event) =>
    event.type === 'tool_call' && callKey(event.data.name, event.data.arguments) === key
      ? [event]
      : [],
  )
}

function alike(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}
