import {
  withPosition,
  type LogPosition,
  type SummarySource,
} from '../../context/compaction-draft.ts'
import { planCompaction, type CompactionPlan } from '../../context/compaction-plan.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, EventDraft, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { CompactionSummary } from '../../model/modes.ts'
import { compactionNotice } from '../../turn/pressure/compaction-notice.ts'
import { newerSurface, type SurfaceRecord } from '../surface/current-surface.ts'
import { recordedSurface } from '../surface/recorded-surface.ts'
import { storeSurface } from './create.ts'
import type { LockedSession } from './locked-session.ts'
import { withModelSummary } from './model-summary.ts'
import type { SessionParts } from './session-parts.ts'
import type { SessionState } from './state.ts'

export interface CompactOptions {
  readonly trigger?: EventData<'history_compaction'>['trigger']
  /** How the summary is written, if one is needed; default: as the settings say. */
  readonly summary?: CompactionSummary | undefined
}

/** A compaction that was recorded, or why there is none. */
export type CompactionOutcome = CompactionPlan & {
  /** Why the summary consists of excerpts although the model should have written it. */
  readonly fallback?: string | undefined
}

/** The Session that is compacted. Its values change with what is recorded. */
export interface CompactedSession {
  readonly events: readonly WholeEvent[]
  readonly state: SessionState
  readonly nextSeq: number
  readonly positionOf: (seq: number) => LogPosition | undefined
}

/**
 * Plans a compaction and records it in one write, unless the plan says that there is nothing to do. The model is asked
 * for a summary only if outputs that become pointers do not suffice.
 */
export async function compactLocked(
  parts: SessionParts,
  session: CompactedSession,
  { trigger = 'manual', summary = parts.model.summary }: CompactOptions,
  { record, ask, publish }: LockedSession,
): Promise<Result<CompactionOutcome>> {
  const prepare = (source?: SummarySource) => prepareCompaction(parts, session, trigger, source)
  const planned = await prepare()
  if (!planned.ok || !planned.value.plan.compactable) return asOutcome(planned)
  const { plan: first } = planned.value
  const prepared =
    summaryWriter(first, summary) === 'model'
      ? await withModelSummary(session, first, { ask, prepare })
      : planned
  if (!prepared.ok || !prepared.value.plan.compactable) return asOutcome(prepared)
  const { surface } = prepared.value
  // The surface is stored before a line names it.
  const stored = surface === undefined ? ok(undefined) : await storeSurface(parts.log, surface)
  if (!stored.ok) return stored
  const recorded = await record(compactionEvents(session, prepared.value))
  if (!recorded.ok) return recorded
  const { provider, model } = session.state
  publish(compactionNotice(session.events, parts.model.factsOf(provider, model)?.window_tokens))
  return asOutcome(prepared)
}

function asOutcome(prepared: Result<PreparedCompaction>): Result<CompactionOutcome> {
  if (!prepared.ok) return prepared
  const { plan, fallback } = prepared.value
  return ok(fallback === undefined ? plan : { ...plan, fallback })
}

/** How the summary of a plan is written; `undefined` if it has none. */
export function summaryWriter(
  plan: CompactionPlan,
  chosen: CompactionSummary = 'excerpts',
): CompactionSummary | undefined {
  return plan.compactable && plan.data.range !== undefined ? chosen : undefined
}

/** A plan, and the surface that it takes over. */
export interface PreparedCompaction {
  readonly plan: CompactionPlan
  /** Why the summary consists of excerpts although the model should have written it. */
  readonly fallback?: string | undefined
  readonly surface?: SurfaceRecord | undefined
}

/** Writes nothing. */
export async function prepareCompaction(
  parts: SessionParts,
  { events, state, nextSeq }: Pick<CompactedSession, 'events' | 'state' | 'nextSeq'>,
  trigger: NonNullable<CompactOptions['trigger']>,
  summary?: SummarySource,
): Promise<Result<PreparedCompaction>> {
  const found = await recordedSurface(parts.log.store, events)
  if (!found.ok) return found
  const { surface, event } = found.value
  const renewed = await newerSurface(parts, state, event, 'checkpoint')
  const window = parts.model.factsOf(state.provider, state.model)?.window_tokens
  const plan = planCompaction(events, {
    trigger,
    surface,
    nextSurface: renewed?.frozen.surface,
    // Sessions of earlier versions have no such tool before they take over a new surface.
    pointers: surface.tools.some(({ name }) => name === 'history_search'),
    window,
    summary,
    nextSeq,
  })
  // If only outputs are elided, the prefix breaks at the first of them, so the surface stays.
  const isTakenOver = plan.compactable && plan.data.range !== undefined
  return ok({ plan, surface: isTakenOver ? renewed : undefined })
}

/** The Events of a compaction, to be recorded in one write. */
export function compactionEvents(
  session: Pick<CompactedSession, 'positionOf'>,
  { plan, surface, fallback }: PreparedCompaction,
): EventDraft[] {
  if (!plan.compactable) return []
  return [
    { type: 'history_compaction', data: withPosition(plan.data, (seq) => session.positionOf(seq)) },
    ...(surface === undefined ? [] : [surface.draft]),
    ...(fallback === undefined ? [] : [notice('summary_fallback', fallback)]),
  ]
}
