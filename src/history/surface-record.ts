import type { EventData, WholeEvent } from '../model/events/event.ts'
import { historyOf, type History } from './history.ts'
import { withoutCalls } from './without-calls.ts'

/** The record of the surface in force after these Events; `undefined` if there is none yet. */
export function surfaceAfter(
  all: readonly WholeEvent[] | Pick<History, 'state' | 'events'>,
): EventData<'prompt_surface'> | undefined {
  const { state, events } = 'events' in all ? all : historyOf(all)
  const last = withoutCalls(events).findLast((event) => event.type === 'prompt_surface')
  return last?.data ?? state.surface
}
