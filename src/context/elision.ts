import { elided } from '../prompt/words/results.ts'
import { isElided, type History } from '../history/history.ts'
import { withoutSummaryTurns } from '../history/summary-turns.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { utf8Bytes } from '../model/shape.ts'
import { resultBytes, type SizedItem } from './token-estimate.ts'

/** Which results of a tail become pointers. */
export type Elision = History['elisions'][number]

/** Longer outputs may become pointers. */
const ELIDED_OVER_BYTES = 1_024

/** A result that may become a pointer. */
export interface LongResult {
  readonly seq: number
  /** Bytes that the request has fewer then. */
  readonly savedBytes: number
}

/**
 * The results that may become pointers, the oldest first: long ones that are still shown, and, unless `unread` is set, none of
 * the last round of the last Turn, which the model may not have used yet. Pure.
 */
export function longResults(
  { events, elisions }: Pick<History, 'events' | 'elisions'>,
  items: readonly SizedItem[],
  unread = false,
): LongResult[] {
  const before = unread ? Infinity : lastRound(events)
  const shown = new Set(
    items.flatMap(({ item }) => (item.kind === 'tool_result' ? [item.seq] : [])),
  )
  return events.flatMap((event) => {
    if (event.type !== 'tool_result' || event.seq >= before || !shown.has(event.seq)) return []
    const { seq, data } = event
    if (utf8Bytes(data.output) <= ELIDED_OVER_BYTES || isElided(elisions, seq, data)) return []
    const pointer = { ...data, output: elided({ ...data, seq }) }
    return [{ seq, savedBytes: resultBytes(data) - resultBytes(pointer) }]
  })
}

/** The first number after the fewest results, the oldest first, that together save `bytes`; `undefined` if all save less. */
export function elideBefore(results: readonly LongResult[], bytes: number): number | undefined {
  let left = bytes
  const last = results.find(({ savedBytes }) => (left -= savedBytes) <= 0)
  return last === undefined ? undefined : last.seq + 1
}

/** An elision that covers what `earlier` ones cover from `from_seq` on, and all long results before `before_seq`. */
export function joinedElision(
  earlier: History['elisions'],
  from_seq: number,
  before_seq = 0,
): Elision | undefined {
  const all = [...earlier, { before_seq, over_bytes: ELIDED_OVER_BYTES }].filter(
    (one) => one.before_seq > from_seq,
  )
  if (all.length === 0) return undefined
  return {
    before_seq: Math.max(...all.map((one) => one.before_seq)),
    over_bytes: Math.min(...all.map((one) => one.over_bytes)),
  }
}

/** The number of the request whose calls are the last of the last Turn; `Infinity` if that Turn has no calls. */
function lastRound(all: readonly WholeEvent[]): number {
  const events = withoutSummaryTurns(all)
  const start = events.findLastIndex(({ type }) => type === 'turn_started')
  const call = events.findLastIndex(({ type }) => type === 'tool_call')
  if (call < start) return Infinity
  return events.slice(0, call).findLast(({ type }) => type === 'provider_request')?.seq ?? 0
}
