import * as z from 'zod'
import { costlyResources } from '../../src/context/replay-cost.ts'
import { sha256 } from '../../src/encoding/hash.ts'
import type { Replay } from '../../src/history/transients.ts'
import { Descriptor, HANDLE_PREFIXES } from '../../src/model/descriptor.ts'
import type { EventData, EventDraft, WholeEvent } from '../../src/model/event.ts'
import { EventId, TurnId } from '../../src/model/ids.ts'
import type { CallUsage } from '../../src/providers/provider.ts'
import { MADE_SESSION } from './log-generator.ts'

const Count = z.int().nonnegative()

/** A Session as far as the cost of its requests goes: when things were said, and how long they were. */
export const ReplayTrace = z.strictObject({
  what: z.string(),
  turns: z.array(
    z.strictObject({
      /** Seconds since the Turn before it. */
      after_s: Count,
      ask_bytes: Count.min(1),
      attached: z.array(
        z.strictObject({ kind: z.enum(['image', 'pdf', 'text']), bytes: Count.min(1) }),
      ),
      /** One for each call to the model: the bytes of the result of the tool it called; of the last one, of its answer. */
      calls: z.array(Count.min(1)).min(1),
    }),
  ),
})
export type ReplayTrace = z.infer<typeof ReplayTrace>

/** What a request came to. */
export interface Asked {
  readonly usage: CallUsage
  readonly request_bytes: number
  readonly shared_prefix_bytes: number
  readonly projected: NonNullable<EventData<'provider_request'>['projected']>
}

/** Composes the next request of a Session, and answers for the provider. */
export interface Asking {
  ask(events: readonly WholeEvent[], turn: TurnId, now: number): Asked | Promise<Asked>
}

export interface Played {
  /** Of all calls: uncached tokens, those written to the cache at 1.25 each, those read from it at 0.1 each. */
  readonly cost: number
  readonly calls: number
  /** How often a Turn began with a choice to retire. */
  readonly retirements: number
  readonly events: readonly WholeEvent[]
}

/** Bytes a Resource of a trace has. */
export type Attached = ReplayTrace['turns'][number]['attached'][number]

const START = Date.parse('2026-01-31T12:00:00.000Z')
const CALL_MS = 4_000

/** Plays a trace under a policy; what the policy decides, it decides from the Events so far. */
export async function playTrace(
  trace: ReplayTrace,
  replay: Replay,
  asking: Asking,
): Promise<Played> {
  const story = new Story()
  let [cost, calls, retirements] = [0, 0, 0]
  for (const turn of trace.turns) {
    const turn_id = story.turn(turn.after_s * 1000)
    if (replay === 'cost-aware') {
      const costly = costlyResources(story.events, turn_id)
      if (costly.length > 0) retirements += 1
      for (const data of costly)
        story.add({ type: 'resource_retired', data: { ...data, why: 'cost' } })
    }
    story.message(turn.ask_bytes, turn.attached)
    for (const [call_index, bytes] of turn.calls.entries()) {
      const asked = await asking.ask(story.events, turn_id, story.now)
      story.call(call_index, asked, bytes, call_index === turn.calls.length - 1)
      cost += costOf(asked.usage)
      calls += 1
    }
  }
  return { cost, calls, retirements, events: story.events }
}

function costOf({ input, cached_read, cache_write }: CallUsage): number {
  return input - cached_read - cache_write + 1.25 * cache_write + 0.1 * cached_read
}

/** The descriptor of the Resource of a trace with that number. */
export function describedAs(number: number, { kind, bytes }: Attached): Descriptor {
  const hash = sha256(`resource ${number}`)
  const media_type = { image: 'image/png', pdf: 'application/pdf', text: 'text/plain' }[kind]
  const ending = { image: 'png', pdf: 'pdf', text: 'txt' }[kind]
  return Descriptor.parse({
    resource_id: idOf('res', number),
    handle: `@${HANDLE_PREFIXES[kind]}${number}`,
    name: `${number}.${ending}`,
    source: 'cli',
    kind,
    media_type,
    size_bytes: bytes,
    content_sha256: hash,
    blob: `${hash}.${ending}`,
    rehydratable: true,
  })
}

function idOf(prefix: string, number: number): string {
  return `${prefix}_01kg8m${String(number).padStart(20, '0')}`
}

const EVENT = EventId.parse(idOf('evt', 0))

/** The Events of a Session, as they come. */
class Story {
  readonly events: WholeEvent[] = []
  now = START
  #turn: TurnId | undefined
  #turns = 0
  #resources = 0
  #toolCalls = 0

  add(draft: EventDraft): void {
    const turn = this.#turn === undefined ? {} : { turn_id: this.#turn }
    this.events.push({
      v: 1,
      seq: this.events.length,
      id: EVENT,
      session_id: MADE_SESSION,
      ...turn,
      ts: new Date(this.now).toISOString(),
      prev: null,
      crc: '00000000',
      ...draft,
    })
  }

  turn(afterMs: number): TurnId {
    this.now += afterMs
    this.#turns += 1
    const turn = TurnId.parse(idOf('trn', this.#turns))
    this.#turn = turn
    this.add({ type: 'turn_started', data: { source: { presenter: 'test' } } })
    return turn
  }

  message(bytes: number, attached: readonly Attached[]): void {
    const resources = attached.map((one) => describedAs((this.#resources += 1), one))
    const data = { text: letters(bytes), prompt_mode: 'blocks', resources } as const
    this.add({ type: 'user_message', data })
  }

  call(call_index: number, asked: Asked, bytes: number, last: boolean): void {
    const { usage, ...request } = asked
    const data = { call_index, attempt: 0, dialect: 'messages', model: 'rehearsal' } as const
    const names = { contract_version: 'hw1', cache_key: 'hw1', request_sha256: '0'.repeat(64) }
    const transport = 'http-sse'
    this.add({ type: 'provider_request', data: { ...data, ...names, ...request, transport } })
    this.now += CALL_MS
    const call_id = `call_${String((this.#toolCalls += 1)).padStart(6, '0')}`
    const called = { call_id, name: 'read' }
    if (last) this.add({ type: 'assistant_message', data: { text: letters(bytes) } })
    else this.add({ type: 'tool_call', data: { ...called, arguments: '{"path":"a.txt"}' } })
    const ended = { latency_ms: CALL_MS, pressure: 'unavailable', stop_reason: 'end' } as const
    this.add({ type: 'provider_usage', data: { call_index, usage, ...ended } })
    if (last) return
    const result = { outcome: 'ok', output: letters(bytes), duration_ms: 1 } as const
    this.add({ type: 'tool_result', data: { ...called, ...result } })
  }
}

function letters(count: number): string {
  return 'a'.repeat(count)
}
