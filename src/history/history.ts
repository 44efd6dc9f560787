import type { WholeEvent } from '../model/events/event.ts'

/** What a Log means for the next request: the checkpoint that counts, if any, and the raw Events after it. */
export interface History {
  readonly checkpoint: WholeEvent<'history_compaction'> | undefined
  /** In order of their numbers. */
  readonly events: readonly WholeEvent[]
}

/** The last checkpoint that was not taken back stands for everything before its tail. */
export function historyOf(events: readonly WholeEvent[]): History {
  const undone = new Set(
    events.flatMap((event) =>
      event.type === 'compaction_undone' ? [event.data.compaction_event_id] : [],
    ),
  )
  const checkpoint = events.findLast(
    (event) => event.type === 'history_compaction' && !undone.has(event.id),
  )
  if (checkpoint?.type !== 'history_compaction') return { checkpoint: undefined, events }
  const { from_seq } = checkpoint.data.tail
  return { checkpoint, events: events.filter(({ seq }) => seq >= from_seq) }
}
