import { costlyResources } from '../../../src/context/replay-cost.ts'
import type { Replay } from '../../../src/model/modes.ts'
import { Descriptor, HANDLE_PREFIXES } from '../../../src/model/descriptor.ts'
import type { EventData, EventDraft, WholeEvent } from '../../../src/model/events/event.ts'
import { EventId, TurnId, type BlobKey } from '../../../src/model/ids.ts'
import type { CallUsage } from '../../../src/providers/provider.ts'
import { SAMPLE_SESSION } from '../history/log-generator.ts'
import type { Attached, ReplayTrace } from './replay-trace.ts'

/** Composes the requests of a Session and simulates the provider that answers them. */
export interface ReplayProvider {
  /** Stores bytes of the size in the trace. */
  keep(attached: Attached): BlobKey | Promise<BlobKey>
  ask(events: readonly WholeEvent[], turn: TurnId, now: number): ReplayCall | Promise<ReplayCall>
}

export interface ReplayCall {
  readonly usage: CallUsage
  readonly request_bytes: number
  readonly shared_prefix_bytes: number
  readonly projected: NonNullable<EventData<'provider_request'>['projected']>
}

const REPLAYS = ['attach-turn', 'window', 'cost-aware'] as const

/** The cost of all calls of a trace in tokens; those written to the cache count 1.25 times, those read from it 0.1 times. */
export type Costs = Readonly<Record<Replay, number>>

export async function costsOf(
  trace: ReplayTrace,
  providerFor: (replay: Replay) => ReplayProvider,
): Promise<Costs> {
  const costs = { 'attach-turn': 0, window: 0, 'cost-aware': 0 }
  for (const replay of REPLAYS)
    costs[replay] = (await playTrace(trace, replay, providerFor(replay))).cost
  return costs
}

/** The cost of `cost-aware` divided by that of the cheaper fixed policy. */
export function ratioToCheaper(costs: Costs): number {
  return costs['cost-aware'] / Math.min(costs['attach-turn'], costs.window)
}

/** Plays a trace; returns the Events of the Session and the cost of its calls. */
export async function playTrace(
  trace: ReplayTrace,
  replay: Replay,
  provider: ReplayProvider,
): Promise<{ readonly events: readonly WholeEvent[]; readonly cost: number }> {
  const story = new Story()
  let cost = 0
  for (const { after_s, ask_bytes, attached, calls } of trace.turns) {
    const turn = story.turn(after_s * 1000)
    const blobs = []
    for (const one of attached) blobs.push({ ...one, blob: await provider.keep(one) })
    story.message(ask_bytes, blobs)
    const costly = replay === 'cost-aware' ? costlyResources(story.events, turn) : []
    for (const one of costly) story.add({ type: 'resource_retired', data: { ...one, why: 'cost' } })
    for (const [index, bytes] of calls.entries()) {
      const call = await provider.ask(story.events, turn, story.now)
      story.request(index, call)
      if (index === calls.length - 1) story.answer(index, call, bytes)
      else story.toolCall(index, call, bytes)
      cost += costOf(call.usage)
    }
  }
  return { events: story.events, cost }
}

function costOf({ input, cached_read, cache_write }: CallUsage): number {
  return input - cached_read - cache_write + 1.25 * cache_write + 0.1 * cached_read
}

const START = Date.parse('2026-01-31T12:00:00.000Z')
const CALL_MS = 4_000
const MEDIA_TYPES = { image: 'image/png', pdf: 'application/pdf', text: 'text/plain' } as const
const EVENT = EventId.parse(idOf('evt', 0))

/** Builds the Events of a Session one after another. */
class Story {
  readonly events: WholeEvent[] = []
  now = START
  #turn: TurnId | undefined
  #turns = 0
  #resources = 0
  #toolCalls = 0

  add(draft: EventDraft): void {
    this.events.push({
      v: 1,
      seq: this.events.length,
      id: EVENT,
      session_id: SAMPLE_SESSION,
      ...(this.#turn === undefined ? {} : { turn_id: this.#turn }),
      ts: new Date(this.now).toISOString(),
      prev: null,
      crc: '00000000',
      ...draft,
    })
  }

  turn(afterMs: number): TurnId {
    this.now += afterMs
    const turn = TurnId.parse(idOf('trn', (this.#turns += 1)))
    this.#turn = turn
    this.add({ type: 'turn_started', data: { source: { presenter: 'test' } } })
    return turn
  }

  message(bytes: number, attached: readonly (Attached & { readonly blob: BlobKey })[]): void {
    const resources = attached.map(({ kind, bytes: size_bytes, blob }) => {
      const n = (this.#resources += 1)
      return Descriptor.parse({
        resource_id: idOf('res', n),
        handle: `@${HANDLE_PREFIXES[kind]}${n}`,
        name: `${n}`,
        source: 'cli',
        kind,
        media_type: MEDIA_TYPES[kind],
        size_bytes,
        content_sha256: blob.slice(0, 64),
        blob,
        rehydratable: true,
      })
    })
    const data = { text: letters(bytes), prompt_mode: 'blocks', resources } as const
    this.add({ type: 'user_message', data })
  }

  request(call_index: number, { usage: _usage, ...request }: ReplayCall): void {
    const made = { dialect: 'messages', model: 'rehearsal', contract_version: 'hw1' } as const
    const names = { cache_key: 'hw1', request_sha256: '0'.repeat(64), transport: 'http-sse' }
    this.add({
      type: 'provider_request',
      data: { call_index, attempt: 0, ...made, ...names, ...request },
    })
    this.now += CALL_MS
  }

  answer(call_index: number, call: ReplayCall, bytes: number): void {
    this.add({ type: 'assistant_message', data: { text: letters(bytes) } })
    this.#usage(call_index, call)
  }

  toolCall(call_index: number, call: ReplayCall, bytes: number): void {
    const call_id = `call_${String((this.#toolCalls += 1)).padStart(6, '0')}`
    const called = { call_id, name: 'read' }
    this.add({ type: 'tool_call', data: { ...called, arguments: TOOL_ARGUMENTS } })
    this.#usage(call_index, call)
    const result = { outcome: 'ok', output: letters(bytes), duration_ms: 1 } as const
    this.add({ type: 'tool_result', data: { ...called, ...result } })
  }

  #usage(call_index: number, { usage }: ReplayCall): void {
    const ended = { latency_ms: CALL_MS, pressure: 'unavailable', stop_reason: 'end' } as const
    this.add({ type: 'provider_usage', data: { call_index, usage, ...ended } })
  }
}

export const TOOL_ARGUMENTS = '{"path":"notes.txt"}'

function letters(count: number): string {
  return 'a'.repeat(count)
}

function idOf(prefix: string, number: number): string {
  return `${prefix}_01kg8m${String(number).padStart(20, '0')}`
}
