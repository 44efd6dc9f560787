import type { WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import { withoutCalls } from './without-calls.ts'

/** A refused Turn was never sent to a model. */
export function refusedTurns(events: readonly WholeEvent[]): ReadonlySet<TurnId> {
  return new Set(
    withoutCalls(events).flatMap((event) =>
      event.type === 'turn_ended' && event.data.status === 'refused' && event.turn_id !== undefined
        ? [event.turn_id]
        : [],
    ),
  )
}
