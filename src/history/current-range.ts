import type { WholeEvent } from '../model/events/event.ts'

/**
 * The Events since the last compaction in force, the newest first, without those that were recorded under a compaction
 * that has been undone since. Reads no more of the list than its consumer does. Pure.
 */
export function* currentRange(events: readonly WholeEvent[]): Generator<WholeEvent, void> {
  const undone = new Set<string>()
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const event = events[at]
    if (event === undefined) continue
    if (event.type === 'history_compaction') {
      if (!undone.delete(event.id)) return
      continue
    }
    if (undone.size === 0 || event.type === 'compaction_undone') yield event
    if (event.type === 'compaction_undone') undone.add(event.data.compaction_event_id)
  }
}
