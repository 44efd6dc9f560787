import type { WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import { withoutCalls } from './without-calls.ts'

/** Whether an Event starts a Turn of a person, not one that only asks the model for a summary. */
export function startsTurn(event: WholeEvent): boolean {
  return event.type === 'turn_started' && event.data.purpose === undefined
}

/** Turns that only ask the model for a summary. Nothing of them is shown in any other Turn. */
export function summaryTurns(events: readonly WholeEvent[]): ReadonlySet<TurnId> {
  return new Set(
    withoutCalls(events).flatMap((event) =>
      event.type === 'turn_started' && !startsTurn(event) && event.turn_id !== undefined
        ? [event.turn_id]
        : [],
    ),
  )
}

/** The Events without those of Turns that only ask for a summary. */
export function withoutSummaryTurns(events: readonly WholeEvent[]): readonly WholeEvent[] {
  const summaries = summaryTurns(events)
  if (summaries.size === 0) return events
  return events.filter(({ turn_id }) => turn_id === undefined || !summaries.has(turn_id))
}
