import { withoutCalls } from '../history/without-calls.ts'
import type { EventData, EventDraft, WholeEvent } from '../model/events/event.ts'
import { ok, type Result } from '../model/errors.ts'
import type { TurnId } from '../model/ids.ts'
import { NO_RESULT } from '../encoding/words/results.ts'
import { endTurn } from './end.ts'
import { addUsage, NO_USAGE, type UsageTotal } from './usage.ts'

/**
 * Ends a Turn whose writer crashed: its open calls become `unknown`, and the Turn ends as recovered, in one write.
 * Nothing is run again. Does nothing if every Turn has ended.
 */
export async function recoverTurn(
  events: readonly WholeEvent[],
  commit: (turn: TurnId, drafts: readonly EventDraft[]) => Promise<Result<void>>,
): Promise<Result<void>> {
  const crashed = crashedTurn(events)
  if (crashed === undefined) return ok(undefined)
  const { turn, open, usage } = crashed
  const log = { commit: (drafts: readonly EventDraft[]) => commit(turn, drafts) }
  const ended = await endTurn(log, { how: 'crashed', usage }, open.map(unknownResult))
  return ended.ok ? ok(undefined) : ended
}

interface CrashedTurn {
  readonly turn: TurnId
  /** Calls without a result. */
  readonly open: readonly EventData<'tool_call'>[]
  readonly usage: UsageTotal
}

/** Only the last Turn can be open: a writer holds the lock, and ends an open Turn before it starts another. */
function crashedTurn(events: readonly WholeEvent[]): CrashedTurn | undefined {
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
    NO_USAGE,
  )
  return { turn, open, usage }
}

function unknownResult({ call_id, name }: EventData<'tool_call'>): EventDraft {
  const data = { call_id, name, outcome: 'unknown', output: NO_RESULT, duration_ms: 0 } as const
  return { type: 'tool_result', data }
}
