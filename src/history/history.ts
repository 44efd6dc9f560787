import type { WholeEvent } from '../model/events/event.ts'

/** The part of a Log that matters for the next request: the current checkpoint, if any, and the raw Events after it. */
export interface History {
  readonly checkpoint: WholeEvent<'history_compaction'> | undefined
  /** In the order of their numbers. */
  readonly events: readonly WholeEvent[]
}

/** The last checkpoint that is not undone replaces everything before its tail. */
export function historyOf(events: readonly WholeEvent[]): History {
  if (!events.some(({ type }) => type === 'history_compaction'))
    return { checkpoint: undefined, events }
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
