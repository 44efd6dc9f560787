import { lostCalls } from '../history/results/turn-result.ts'
import { withoutCalls } from '../history/without-calls.ts'
import type { EventData, EventDraft, WholeEvent } from '../model/events/event.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { TurnId } from '../model/ids.ts'
import { NO_RESULT } from '../prompt/words/results.ts'
import { endTurn } from './end.ts'
import type { Commit } from './parts/pending-results.ts'
import { verdictDraft } from './parts/verdict.ts'
import { addUsage, usageAfter, type UsageTotal } from './usage.ts'

/**
 * Ends a Turn whose writer crashed: its open questions are decided, its open calls become `unknown`, or `denied` if they
 * waited for an answer, and the Turn ends as recovered, in one write. Nothing is run again. Does nothing if every Turn has
 * ended, or if the caller `continues` the Turn.
 */
export async function recoverTurn(
  events: readonly WholeEvent[],
  commitOf: (turn: TurnId) => Commit,
  continues: Continues = () => false,
): Promise<Result<void>> {
  const crashed = crashedTurn(events)
  if (crashed === undefined || continues(crashed)) return ok(undefined)
  const { turn, open, openQuestions, usage } = crashed
  const log = { commit: commitOf(turn) }
  const waiting = new Set(openQuestions.map(({ call_id }) => call_id))
  const ended = await endTurn(log, { how: 'crashed', usage }, [
    ...openQuestions.map((about) => verdictDraft(about, UNANSWERED)),
    ...open.map((call) => (waiting.has(call.call_id) ? notRun(call) : unknownResult(call))),
  ])
  return ended.ok ? ok(undefined) : ended
}

/** Whether the caller continues the Turn; then it does not end. */
export type Continues = (crashed: CrashedTurn) => boolean

/** A Turn without an end, whose writer is gone. */
export interface CrashedTurn {
  readonly turn: TurnId
  /** All its Events. */
  readonly own: readonly WholeEvent[]
  /** Calls without a result. */
  readonly open: readonly EventData<'tool_call'>[]
  /** Questions without a decision. */
  readonly openQuestions: readonly EventData<'permission_asked'>[]
  readonly usage: UsageTotal
}

/** Only the last Turn can be open: a writer holds the lock, and ends an open Turn before it starts another. */
export function crashedTurn(events: readonly WholeEvent[]): CrashedTurn | undefined {
  const steps = withoutCalls(events)
  const started = steps.findLast((event) => event.type === 'turn_started')
  if (started?.turn_id === undefined) return undefined
  const turn = started.turn_id
  const isOwn = ({ seq, turn_id }: WholeEvent) => seq >= started.seq && turn_id === turn
  if (steps.some((event) => event.type === 'turn_ended' && isOwn(event))) return undefined
  const own = events.filter(isOwn)
  const settled = new Set(own.flatMap((e) => (e.type === 'tool_result' ? [e.data.call_id] : [])))
  const open = own.flatMap((event) =>
    event.type === 'tool_call' && !settled.has(event.data.call_id) ? [event.data] : [],
  )
  const usage = own.reduce(
    (sum, { type, data }) =>
      type === 'provider_usage' ? addUsage(sum, { usage: data.usage, cost: data.cost_usd }) : sum,
    usageAfter(lostCalls(own)),
  )
  return { turn, own, open, openQuestions: questionsIn(own), usage }
}

/** Questions are asked one after another, or are about different calls. */
function questionsIn(own: readonly WholeEvent[]): EventData<'permission_asked'>[] {
  const asked = new Map<string, EventData<'permission_asked'>>()
  for (const { type, data } of own) {
    if (type === 'permission_asked') asked.set(subjectKey(data), data)
    if (type === 'permission_decision') asked.delete(subjectKey(data))
  }
  return [...asked.values()]
}

function subjectKey({ call_id = '', subject }: EventData<'permission_asked'>): string {
  return JSON.stringify([call_id, subject])
}

const UNANSWERED = { isAllowed: false, scope: 'once', by: 'interrupt' } as const

/** It waited for an answer, so it never ran. */
function notRun({ call_id, name }: EventData<'tool_call'>): EventDraft {
  const { error } = failed('interrupted', 'Not run: Hawser stopped before anyone answered.')
  const { message: output } = error
  const data = { call_id, name, outcome: 'denied', error, output, duration_ms: 0 } as const
  return { type: 'tool_result', data }
}

function unknownResult({ call_id, name }: EventData<'tool_call'>): EventDraft {
  const data = { call_id, name, outcome: 'unknown', output: NO_RESULT, duration_ms: 0 } as const
  return { type: 'tool_result', data }
}
