import type { CompactionPlan } from '../../context/compaction-plan.ts'
import { timestamp } from '../../host/clock.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { CompactionSummary } from '../../model/modes.ts'
import {
  compactionEvents,
  prepareCompaction,
  summaryWriter,
  type CompactOptions,
  type PreparedCompaction,
} from '../live/locked-compaction.ts'
import { FreshBlobs } from '../admission/fresh-blobs.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { previewRequest } from './preview.ts'

/** What a compaction would do. */
export interface CompactionPreview {
  readonly plan: CompactionPlan
  /**
   * How the summary would be written; absent without one. With `model`, the plan and the sizes are those of excerpts,
   * because no call is made.
   */
  readonly summary?: CompactionSummary | undefined
  /** Bytes of the next request with an empty message, without the compaction and with it. */
  readonly request_bytes: { readonly before: number; readonly after: number }
}

/** Plans a compaction by hand and composes the request that would follow. Takes no lock and writes nothing. */
export async function previewCompaction(
  parts: SessionParts,
  session: LiveSession,
  { summary: chosen = parts.model.summary }: Pick<CompactOptions, 'summary'> = {},
): Promise<Result<CompactionPreview>> {
  const known = await session.catchUp()
  if (!known.ok) return known
  if (session.state.turn_open)
    return failed('turn_in_progress', 'The last Turn of this Session has not ended.', {}, [WAIT])
  const prepared = await prepareCompaction(parts, session, 'manual')
  if (!prepared.ok) return prepared
  const before = await previewRequest(parts, session, '')
  if (!before.ok) return before
  const after = await previewAfter(parts, session, prepared.value)
  if (!after.ok) return after
  const request_bytes = { before: before.value.length, after: after.value.length }
  const { plan } = prepared.value
  const summary = summaryWriter(plan, chosen)
  return ok({ plan, ...(summary === undefined ? {} : { summary }), request_bytes })
}

const WAIT = {
  action:
    'Wait for the Turn to end. If its process was killed, the next command that writes to this Session ends it.',
}

/** The request after the compaction, whose Events and surface exist in memory only. */
function previewAfter(parts: SessionParts, session: LiveSession, prepared: PreparedCompaction) {
  const { id, state } = session
  const events = [...session.events, ...plannedEvents(parts, session, prepared)]
  const { surface } = prepared
  const fresh = new FreshBlobs()
  if (surface !== undefined) fresh.hold(surface.draft.data.blob, surface.frozen.bytes)
  const log = { ...parts.log, store: fresh.over(parts.log.store) }
  return previewRequest({ ...parts, log }, { id, state, events }, '')
}

function plannedEvents(
  { log: { place } }: SessionParts,
  session: LiveSession,
  prepared: PreparedCompaction,
): WholeEvent[] {
  const made = {
    v: 1 as const,
    session_id: session.id,
    ts: timestamp(place.clock),
    prev: null,
    crc: '00000000',
  }
  return compactionEvents(session, prepared).map((draft, n) => {
    return { ...made, seq: session.nextSeq + n, id: place.ids.event(), ...draft }
  })
}
