import type { WholeEvent } from '../model/events/event.ts'

/** A command whose second snapshot is missing: Hawser was stopped before its end. */
export interface OpenSnapshot {
  readonly call_id: string
  readonly before: string
  readonly turn_id?: WholeEvent['turn_id']
}

/** Commands without a second snapshot, the earliest first. Pure. */
export function openSnapshots(events: readonly WholeEvent[]): readonly OpenSnapshot[] {
  const open = new Map<string, OpenSnapshot>()
  for (const { type, turn_id, data } of events) {
    if (type !== 'workspace_snapshot') continue
    const { call_id, before, after, why } = data
    // The late one of a killed command is recorded in another Turn, or in none.
    if (before === undefined || after !== undefined || why !== undefined) open.delete(call_id)
    else open.set(call_id, { call_id, before, ...(turn_id === undefined ? {} : { turn_id }) })
  }
  return [...open.values()]
}
