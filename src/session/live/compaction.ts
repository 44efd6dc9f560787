import { pinnedTexts } from '../../context/carried-facts.ts'
import type { SummarySource } from '../../context/compaction-draft.ts'
import {
  planCompaction,
  type CompactionPlan,
  type PlannedCompaction,
} from '../../context/compaction-plan.ts'
import { compactionsInForce } from '../../history/history.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventData, EventDraft, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import { LIMITS } from '../../model/limits.ts'
import type { CompactionSummary } from '../../model/modes.ts'
import { utf8Bytes } from '../../model/shape.ts'
import { newerSurface, type SurfaceRecord } from '../surface/current-surface.ts'
import { recordedSurface } from '../surface/recorded-surface.ts'
import { storeSurface } from './create.ts'
import { withModelSummary } from './model-summary.ts'
import type { Session } from './session.ts'
import type { SessionParts } from './session-parts.ts'

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

/**
 * Plans a compaction and records it in one write, unless the plan says that there is nothing to do. The model is asked
 * for a summary only if outputs that become pointers do not suffice.
 */
export async function compactSession(
  parts: SessionParts,
  session: Session,
  { trigger = 'manual', summary = parts.model.summary }: CompactOptions,
): Promise<Result<CompactionOutcome>> {
  return session.between<CompactionOutcome>(async (record, ask) => {
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
    return recorded.ok ? asOutcome(prepared) : recorded
  })
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
  { events, state, nextSeq }: Pick<Session, 'events' | 'state' | 'nextSeq'>,
  trigger: NonNullable<CompactOptions['trigger']>,
  summary?: SummarySource,
): Promise<Result<PreparedCompaction>> {
  const found = await recordedSurface(parts.log.store, events)
  if (!found.ok) return found
  const { surface, recorded } = found.value
  const renewed = await newerSurface(parts, state, recorded, 'checkpoint')
  const window = parts.model.factsOf(state.provider, state.model)?.window_tokens
  const plan = planCompaction(events, {
    trigger,
    surface,
    renewed: renewed?.frozen.surface,
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
  session: Pick<Session, 'placeOf'>,
  { plan, surface, fallback }: PreparedCompaction,
): EventDraft[] {
  if (!plan.compactable) return []
  return [
    { type: 'history_compaction', data: positioned(plan, session) },
    ...(surface === undefined ? [] : [surface.draft]),
    ...(fallback === undefined ? [] : [notice('summary_fallback', fallback)]),
  ]
}

/** With the position of the tail in the Log. */
function positioned(
  { data }: PlannedCompaction,
  session: Pick<Session, 'placeOf'>,
): EventData<'history_compaction'> {
  const place = data.range === undefined ? undefined : session.placeOf(data.tail.from_seq)
  if (place === undefined) return data
  const position = { from_offset: place.offset, from_prev: place.prev }
  return { ...data, tail: { ...data.tail, ...position } }
}

/** What `undoCompaction` took back. */
export interface UndoneCompaction {
  readonly compaction_event_id: string
  /** The surface before the compaction is in force again. */
  readonly surface_restored: boolean
}

/** Takes back the last compaction in force, and the surface that it took over. */
export async function undoCompaction(session: Session): Promise<Result<UndoneCompaction>> {
  return session.between(async (record) => {
    const last = compactionsInForce(session.events).at(-1)
    if (last === undefined)
      return failed('not_found', 'Nothing to undo: no compaction is in force in this Session.')
    const { id: compaction_event_id } = last
    const surface = surfaceBefore(session.events, last)
    const recorded = await record([
      { type: 'compaction_undone', data: { compaction_event_id, reason: 'manual' } },
      ...(surface === undefined ? [] : [{ type: 'prompt_surface', data: surface } as const]),
    ])
    if (!recorded.ok) return recorded
    return ok({ compaction_event_id, surface_restored: surface !== undefined })
  })
}

/** The surface that a compaction replaced, if what it took over is still in force: a person may have changed the model. */
function surfaceBefore(
  events: readonly WholeEvent[],
  { seq, data: { tail, state } }: WholeEvent<'history_compaction'>,
): EventData<'prompt_surface'> | undefined {
  const taken = events.find((event) => event.seq === seq + 1)
  if (taken?.type !== 'prompt_surface' || taken.data.reason !== 'checkpoint') return undefined
  if (surfaceAfter(events)?.blob !== taken.data.blob) return undefined
  const between = events.filter((event) => event.seq >= tail.from_seq && event.seq < seq)
  const before = between.findLast((event) => event.type === 'prompt_surface')?.data
  const surface = before ?? state?.surface
  return surface === undefined ? undefined : { ...surface, reason: 'reload' }
}

/** Records text that every checkpoint keeps verbatim. */
export async function pinText(session: Session, text: string): Promise<Result<void>> {
  if (text.trim() === '') return failed('invalid_args', 'The text to pin is empty.')
  return session.between(async (record) => {
    const others = pinnedTexts(session.events).filter((pinned) => pinned !== text)
    const pinned = others.reduce((sum, one) => sum + utf8Bytes(one), 0)
    const actual = utf8Bytes(text)
    const limit = LIMITS.pinned_text_bytes
    if (pinned + actual > limit) {
      const message = `The text has ${actual} bytes, and other pinned texts have ${pinned}; the limit is ${limit} in all.`
      return failed('too_large', message, { limit, actual, pinned })
    }
    return record([{ type: 'text_pinned', data: { text, by: 'person' } }])
  })
}
