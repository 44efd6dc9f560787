import type { EventDraft, WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import { NO_RESULT } from '../history/words.ts'
import { addUsage, NO_USAGE } from './usage.ts'

/** A Turn whose writer died before it could end it. */
export interface CrashedTurn {
  readonly turn: TurnId
  /** What has to be recorded so that the Turn has an end. Nothing is run again. */
  readonly drafts: readonly EventDraft[]
}

/** Finds a Turn that began and did not end: its open calls become `unknown`, and the Turn ends as recovered. */
export function crashedTurn(events: readonly WholeEvent[]): CrashedTurn | undefined {
  const started = events.findLast((event) => event.type === 'turn_started')
  if (started?.turn_id === undefined) return undefined
  const turn = started.turn_id
  const own = events.filter(({ seq, turn_id }) => seq >= started.seq && turn_id === turn)
  if (own.some(({ type }) => type === 'turn_ended')) return undefined
  const settled = new Set(own.flatMap((e) => (e.type === 'tool_result' ? [e.data.call_id] : [])))
  const open = own.flatMap((event) =>
    event.type === 'tool_call' && !settled.has(event.data.call_id) ? [event.data] : [],
  )
  const usage_total = own.reduce(
    (sum, { type, data }) =>
      type === 'provider_usage' ? addUsage(sum, { usage: data.usage, cost: data.cost_usd }) : sum,
    NO_USAGE,
  )
  return {
    turn,
    drafts: [
      ...open.map(({ call_id, name }): EventDraft => ({
        type: 'tool_result',
        turn_id: turn,
        data: { call_id, name, outcome: 'unknown', output: NO_RESULT, duration_ms: 0 },
      })),
      {
        type: 'turn_ended',
        turn_id: turn,
        data: { status: 'interrupted', usage_total, crash_recovered: true },
      },
    ],
  }
}
