import { asFilePlace } from '../log/file-place.ts'
import { carriedBefore } from '../../../src/context/carried-facts.ts'
import { stateBefore } from '../../../src/history/resume-state.ts'
import type { EventData, EventDraft } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import type { SessionParts } from '../../../src/session/live/session-parts.ts'
import { linesOf, rawLog } from '../log/raw-log.ts'
import { value } from '../log/story.ts'

/** Records a checkpoint that leaves the last `turns` Turns raw, with a true state changed by `lies`. */
export async function recordCheckpoint(
  { log }: SessionParts,
  session: Session,
  turns: number,
  lies: (data: EventData<'history_compaction'>) => EventData<'history_compaction'> = (data) => data,
): Promise<void> {
  const starts = session.events.filter(({ type }) => type === 'turn_started')
  const next = (session.events.at(-1)?.seq ?? -1) + 1
  const from_seq = starts[starts.length - turns]?.seq ?? next
  const lines = linesOf(await rawLog(asFilePlace(log.place).folders.sessions, session.id))
  const from_offset = lines.slice(0, from_seq).reduce((sum, { length }) => sum + length, 0)
  const before = session.events.findLast(({ seq }) => seq < from_seq)
  const first = session.events.find(({ seq }) => seq === from_seq)
  const data: EventData<'history_compaction'> = {
    trigger: 'manual',
    strategy: 'by hand',
    range: { from_seq: 0, to_seq: from_seq - 1 },
    tail: { from_seq, turns, tokens: 1, from_offset, from_prev: first?.prev ?? null },
    tokens_before: 2,
    tokens_after: 1,
    carried: carriedBefore(session.events, from_seq),
    state: stateBefore(session.events, from_seq),
    summary: `The Session so far, up to Event ${before?.seq ?? 0}.`,
  }
  const draft: EventDraft = { type: 'history_compaction', data: lies(data) }
  value(await session.between(({ record }) => record([draft])))
}
