import type { CompactionData } from '../../../src/context/compaction-draft.ts'
import {
  planCompaction,
  type CompactionPlan,
  type PlanOptions,
} from '../../../src/context/compaction-plan.ts'
import { freezeSurface } from '../../../src/prompt/surface.ts'
import type { EventDraft, WholeEvent } from '../../../src/model/events/event.ts'
import { TurnId } from '../../../src/model/ids.ts'
import { generatedSurface } from '../history/generated-surface.ts'
import { wholeEvents } from '../history/sample-resources.ts'

/** A Turn with one round of calls for each list of outputs, and an answer. */
export interface WrittenTurn {
  readonly request?: string
  readonly rounds?: readonly (readonly string[])[]
  readonly answer?: string
  /** Events after the message. */
  readonly more?: readonly EventDraft[]
  /** Events after the last round. */
  readonly later?: readonly EventDraft[]
  /** Events after the end of the Turn, which belong to no Turn. */
  readonly after?: readonly EventDraft[]
  /** It is still running. */
  readonly open?: boolean
  /** It only asks for a summary. */
  readonly purpose?: 'summary'
}

export const PLAN_SURFACE = freezeSurface(generatedSurface(0, 0)).surface

/** The Events of these Turns, after those of `before`. */
export function writtenSession(
  turns: readonly WrittenTurn[],
  before: readonly EventDraft[] = [],
): WholeEvent[] {
  return wholeEvents([...before, ...turns.flatMap((turn, at) => turnDrafts(turn, at + 1))])
}

export function writtenTurn(number: number): TurnId {
  return TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x9y${String(number).padStart(4, '0')}`)
}

/** The drafts of one Turn, with call ids that no other Turn has. */
export function turnDrafts(turn: WrittenTurn, number: number): EventDraft[] {
  const { request = `request ${number}`, rounds = [], answer = `answer ${number}` } = turn
  const called = rounds.flatMap((outputs, round) => {
    const calls = outputs.map((output, at) => ({
      call_id: `call_${number}_${round}_${at}`,
      output,
    }))
    return [
      providerRequest(round),
      ...calls.map(({ call_id }): EventDraft => {
        return { type: 'tool_call', data: { call_id, name: 'read', arguments: '{"path":"a.ts"}' } }
      }),
      ...calls.map(({ call_id, output }): EventDraft => {
        const data = { call_id, name: 'read', outcome: 'ok', output, duration_ms: 1 } as const
        return { type: 'tool_result', data }
      }),
    ]
  })
  const answered: EventDraft[] = [
    providerRequest(rounds.length),
    { type: 'assistant_message', data: { text: answer } },
    { type: 'turn_ended', data: { status: 'completed', usage_total: NO_USAGE } },
  ]
  const own: EventDraft[] = [
    { type: 'turn_started', data: { source: { presenter: 'test' }, ...purposeOf(turn) } },
    { type: 'user_message', data: { text: request, prompt_mode: 'string' } },
    ...(turn.more ?? []),
    ...called,
    ...(turn.later ?? []),
    ...(turn.open === true ? [] : answered),
  ]
  const turn_id = writtenTurn(number)
  return [...own.map((draft): EventDraft => ({ ...draft, turn_id })), ...(turn.after ?? [])]
}

function purposeOf({ purpose }: WrittenTurn) {
  return purpose === undefined ? {} : { purpose }
}

const NO_USAGE = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 }

function providerRequest(call_index: number): EventDraft {
  const data = {
    call_index,
    attempt: 0,
    dialect: 'rehearsal',
    model: 'rehearsal',
    contract_version: 'hw1',
    cache_key: 'hw1',
    request_sha256: '0'.repeat(64),
    request_bytes: 0,
    shared_prefix_bytes: 0,
    transport: 'in-process',
  } as const
  return { type: 'provider_request', data }
}

/** A Conversation of that many Turns, each with about that many bytes. */
export function talk(count: number, bytes = 4_000): WrittenTurn[] {
  return Array.from({ length: count }, (_, at) => ({
    request: `question ${at + 1} ${'why '.repeat(bytes / 8)}`,
    answer: `reason ${at + 1} ${'because '.repeat(bytes / 16)}`,
  }))
}

export function plan(
  events: readonly WholeEvent[],
  options: Partial<PlanOptions> = {},
): CompactionPlan {
  return planCompaction(events, { trigger: 'manual', surface: PLAN_SURFACE, ...options })
}

/** Fails if there is nothing to compact. */
export function planned(events: readonly WholeEvent[], options: Partial<PlanOptions> = {}) {
  const found = plan(events, options)
  if (!found.compactable) throw new Error(`not compactable: ${JSON.stringify(found)}`)
  return found
}

/** These Events and the planned one. */
export function compacted(events: readonly WholeEvent[], data: CompactionData): WholeEvent[] {
  return appended(events, [{ type: 'history_compaction', data }])
}

export function appended(
  events: readonly WholeEvent[],
  drafts: readonly EventDraft[],
): WholeEvent[] {
  const more = wholeEvents([...events.map(() => NOTE), ...drafts])
  return [...events, ...more.slice(events.length)]
}

const NOTE: EventDraft = { type: 'notice', data: { code: 'n', text: 'n' } }
