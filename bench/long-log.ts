import { createHash } from 'node:crypto'
import { createLog } from '../src/log/open.ts'
import type { EventDraft } from '../src/model/events/event.ts'
import type { SessionId, TurnId } from '../src/model/ids.ts'
import { random, type Random } from '../test/support/host/random.ts'
import type { TestPlace } from '../test/support/log/log-place.ts'
import { sessionStarted, turnEnded, value } from '../test/support/log/story.ts'
import { textFold } from '../test/support/log/text-fold.ts'

/** Drafts are passed to the writer in groups of about this size, to spend the time on bytes and not on syncs. */
const GROUP_BYTES = 2 * 1024 * 1024
/** Size of the Log after its checkpoint. */
const BEHIND_CHECKPOINT_BYTES = 256 * 1024

/** Writes a Log of `bytes` bytes as a long Session leaves it: Turns, a checkpoint near the end, an index on release. */
export async function writeLongLog(storage: TestPlace, bytes: number): Promise<SessionId> {
  const { place, keep } = storage
  const session = place.ids.session()
  const writer = value(await createLog(place, session, [sessionStarted], { fold: textFold, keep }))
  const story = new LongStory(storage, 1)
  const append = async (drafts: readonly EventDraft[]) => {
    for (const { content } of value(await writer.append(drafts))) {
      if (!content.isKnown) throw new Error(`${content.event.type}: ${content.why}`)
    }
  }
  const goOn = async (until: number) => {
    while (writer.cursor.offset < until) {
      await append(story.turns(Math.min(GROUP_BYTES, until - writer.cursor.offset)))
    }
  }
  await goOn(bytes - BEHIND_CHECKPOINT_BYTES)
  await append([checkpoint(writer.cursor.seq)])
  await goOn(bytes)
  await writer.release()
  return session
}

/** Turns of a Session in which a model reads and edits files. */
export class LongStory {
  readonly #storage: Pick<TestPlace, 'place'>
  readonly #random: Random
  readonly #plain: string
  readonly #foreign: string
  #calls = 0

  constructor(storage: Pick<TestPlace, 'place'>, seed: number) {
    this.#storage = storage
    this.#random = random(seed)
    this.#plain = this.#prose(PLAIN)
    this.#foreign = this.#prose([...PLAIN, ...FOREIGN])
  }

  /** Complete Turns, about `bytes` bytes in total. */
  turns(bytes: number): EventDraft[] {
    const drafts: EventDraft[] = []
    for (let size = 0; size < bytes;) {
      const turn = [...this.unendedTurn(3 + this.#random.below(6))]
      const [first] = turn
      if (first?.turn_id !== undefined) turn.push(turnEnded(first.turn_id))
      drafts.push(...turn)
      size += Buffer.byteLength(JSON.stringify(turn)) + turn.length * LINE_OVERHEAD
    }
    return drafts
  }

  /** A running Turn, after the given number of calls. */
  unendedTurn(calls: number): EventDraft[] {
    const turn_id = this.#storage.place.ids.turn()
    return [
      { type: 'turn_started', turn_id, data: { source: { presenter: 'cli' } } },
      {
        type: 'user_message',
        turn_id,
        data: { text: this.#slice(100, 2_000), prompt_mode: 'string' },
      },
      ...Array.from({ length: calls }, (_, i) => this.#call(turn_id, i)).flat(),
    ]
  }

  #call(turn_id: TurnId, call_index: number): EventDraft[] {
    this.#calls += 1
    const call_id = `call_${this.#calls}`
    const input = 20_000 + this.#random.below(80_000)
    return [
      { type: 'provider_request', turn_id, data: request(call_index, call_id) },
      { type: 'assistant_message', turn_id, data: { text: this.#slice(50, 1_500) } },
      {
        type: 'tool_call',
        turn_id,
        data: {
          call_id,
          name: 'edit',
          arguments: JSON.stringify({ path: 'src/harbour.ts', text: this.#slice(50, 1_000) }),
        },
      },
      {
        type: 'tool_result',
        turn_id,
        data: {
          call_id,
          name: 'edit',
          outcome: 'ok',
          output: this.#slice(1_000, 20_000),
          duration_ms: 12,
        },
      },
      { type: 'provider_usage', turn_id, data: usage(call_index, input) },
    ]
  }

  #slice(least: number, most: number): string {
    // Most text in programs is ASCII.
    const text = this.#random.below(8) === 0 ? this.#foreign : this.#plain
    const from = this.#random.below(text.length - most)
    return text.slice(from, from + least + this.#random.below(most - least))
  }

  #prose(words: readonly string[]): string {
    return Array.from({ length: 12_000 }, () => this.#random.pick(words)).join(' ')
  }
}

/** Approximate size of a line around its data. */
const LINE_OVERHEAD = 300

/** Words with characters that JSON escapes. */
const PLAIN = [
  'the harbour master said "not before the tide"',
  'const boats = new Map<string, Boat>()\n',
  '  return boats.get(name) ?? undefined\n\n',
  'moored at the quay',
  'C:\\boats\\list.txt',
  '\tif (tide > 3) continue\n',
]

/** Words with characters of more than one byte in UTF-8. */
const FOREIGN = ['Überfahrt nach Malmö', '船は港に着いた', '⚓️']

function request(call_index: number, call_id: string) {
  return {
    call_index,
    attempt: 0,
    dialect: 'responses',
    model: 'rehearsal',
    contract_version: '1',
    cache_key: 'hawser-bench',
    request_sha256: createHash('sha256').update(call_id).digest('hex'),
    request_bytes: 120_000,
    shared_prefix_bytes: 110_000,
    transport: 'websocket',
  } as const
}

function usage(call_index: number, input: number) {
  return {
    call_index,
    usage: { input, cached_read: input - 900, cache_write: 900, output: 300, reasoning: 40 },
    raw: { input_tokens: input, output_tokens: 340, service_tier: 'default' },
    latency_ms: 2_310,
    first_token_ms: 410,
    pressure: { tier: 'none', ratio: input / 200_000, window_tokens: 200_000 },
    stop_reason: 'tool_calls',
  } as const
}

function checkpoint(seq: number): EventDraft {
  return {
    type: 'history_compaction',
    data: {
      trigger: 'policy_auto',
      strategy: 'summary',
      range: { from_seq: 1, to_seq: seq - 1 },
      tail: { from_seq: seq, turns: 0, tokens: 0 },
      tokens_before: 180_000,
      tokens_after: 9_000,
      carried: {
        files_touched: ['src/harbour.ts'],
        decisions: ['Boats are named once.'],
        open_tasks: [],
        tool_outcomes: [],
        resources: [],
        skills: [],
        hydrations: [],
        pinned: [],
      },
      state: { handle_counter: 0, resources: [], notices: [] },
      summary: 'Boats were moored. '.repeat(200),
    },
  }
}
