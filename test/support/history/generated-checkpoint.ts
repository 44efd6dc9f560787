import { planCompaction } from '../../../src/context/compaction-plan.ts'
import { requestBytes, tokensOf, tokensPerByte } from '../../../src/context/token-estimate.ts'
import type { EventData, EventDraft, WholeEvent } from '../../../src/model/events/event.ts'
import { SessionId, type EventId } from '../../../src/model/ids.ts'
import type { Surface } from '../../../src/model/surface.ts'
import type { Random } from '../host/random.ts'

const SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

/** The Events of a generated Log so far. */
interface GeneratedSoFar {
  readonly drafts: readonly EventDraft[]
  readonly ids: readonly EventId[]
}

/** What the planner makes of a generated Log with a random target; `undefined` if it makes nothing. */
export function generatedCheckpoint(
  log: GeneratedSoFar,
  surface: Surface | undefined,
  chance: Random,
): EventData<'history_compaction'> | undefined {
  if (surface === undefined) return undefined
  const events = generatedEvents(log)
  const tokens = tokensOf(requestBytes(events, { surface }), tokensPerByte(events))
  const target = Math.floor(tokens * (0.3 + 0.6 * chance.next()))
  const plan = planCompaction(events, { trigger: 'manual', surface, target })
  return plan.compactable ? plan.data : undefined
}

function generatedEvents({ drafts, ids }: GeneratedSoFar): WholeEvent[] {
  return drafts.flatMap((draft, seq) => {
    const id = ids[seq]
    if (id === undefined) return []
    const made = { v: 1, seq, id, session_id: SESSION, ts: '2026-01-31T12:00:00.000Z' } as const
    return [{ ...made, prev: null, crc: '00000000', ...draft }]
  })
}
