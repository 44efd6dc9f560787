import type { WholeEvent } from '../model/events/event.ts'
import { historyOf, type History } from './history.ts'
import { withoutCalls } from './without-calls.ts'

/** The provider that applies from this Event on. */
export function namedProvider(event: WholeEvent): string | undefined {
  return event.type === 'session_started' || event.type === 'session_settings'
    ? event.data.provider
    : undefined
}

/** The provider after these Events. */
export function providerAfter(
  all: readonly WholeEvent[] | Pick<History, 'state' | 'events'>,
): string | undefined {
  const { state, events } = 'events' in all ? all : historyOf(all)
  const last = withoutCalls(events).findLast((event) => namedProvider(event) !== undefined)
  return last === undefined ? state.provider : namedProvider(last)
}
