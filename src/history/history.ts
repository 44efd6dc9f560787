import type { EventData, WholeEvent } from '../model/events/event.ts'
import { utf8Bytes } from '../model/shape.ts'
import { withoutCalls } from './without-calls.ts'

type Compaction = WholeEvent<'history_compaction'>
type RangeData = Compaction['data'] & Required<Pick<Compaction['data'], 'range'>>

/** A checkpoint whose summary replaces the Events of its range. */
export type Checkpoint = Compaction & { readonly data: RangeData }

/** What later Turns need of the Events before the raw ones. */
export type ResumeState = NonNullable<Compaction['data']['state']>

type Elision = NonNullable<Compaction['data']['elided']>

/**
 * The part of a Log that matters from now on. It is the same for all Events of a Log and for those from the tail of its
 * checkpoint on, so that a resumed Session, which reads no more, cannot differ from a live one.
 */
export interface History {
  /** The checkpoint in force, if any. */
  readonly checkpoint: Checkpoint | undefined
  /** What happened before `events`. */
  readonly state: ResumeState
  /** Which results in `events` are shown as pointers. */
  readonly elisions: readonly Elision[]
  /** The raw Events, in the order of their numbers. */
  readonly events: readonly WholeEvent[]
}

/** The state before the first Event of a Log. */
export const NO_STATE: ResumeState = { handle_counter: 0, resources: [], notices: [] }

/** The last checkpoint that is not undone replaces everything before its tail. */
export function historyOf(events: readonly WholeEvent[]): History {
  const compactions = compactionsInForce(events)
  const checkpoint = compactions.findLast(isCheckpoint)
  const from = checkpoint?.data.tail.from_seq ?? 0
  return {
    checkpoint,
    state: checkpoint?.data.state ?? NO_STATE,
    elisions: compactions.flatMap(({ seq, data: { elided } }) =>
      elided === undefined || seq < (checkpoint?.seq ?? 0) ? [] : [elided],
    ),
    events: isFrom(events, from) ? events : events.filter(({ seq }) => seq >= from),
  }
}

/** Whether a list, in the order of its numbers, has no Event before `from`. */
function isFrom([first]: readonly WholeEvent[], from: number): boolean {
  return first === undefined || first.seq >= from
}

/** The compactions that are not undone, the oldest first. */
export function compactionsInForce(events: readonly WholeEvent[]): readonly Compaction[] {
  const made: Compaction[] = []
  for (const event of withoutCalls(events)) {
    if (event.type === 'history_compaction') made.push(event)
    if (event.type !== 'compaction_undone' || made.length === 0) continue
    const undone = made.findIndex(({ id }) => id === event.data.compaction_event_id)
    if (undone !== -1) made.splice(undone, 1)
  }
  return made
}

/** A checkpoint from elsewhere may name any range: one that does not end before its tail is never in force. */
function isCheckpoint(event: Compaction): event is Checkpoint {
  return replacesRange(event.seq, event.data)
}

/** See `isCheckpoint`; `seq` is the number of its Event. */
export function replacesRange(
  seq: number,
  { range, tail }: Pick<Compaction['data'], 'range' | 'tail'>,
): boolean {
  if (range === undefined || tail.from_seq > seq) return false
  return range.from_seq <= range.to_seq && range.to_seq + 1 === tail.from_seq
}

/** Whether a result is shown as a pointer. */
export function isElided(
  elisions: History['elisions'],
  seq: number,
  { output }: Pick<EventData<'tool_result'>, 'output'>,
): boolean {
  return elisions.some(
    ({ before_seq, over_bytes }) => seq < before_seq && utf8Bytes(output) > over_bytes,
  )
}
