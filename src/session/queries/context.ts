import { estimatedTokens, gaugeOf } from '../../context/gauge.ts'
import { tierOf, type PressureTier, type TierLimits } from '../../context/pressure.ts'
import { windowParts, type WindowParts } from '../../context/window-parts.ts'
import { SessionResources } from '../../history/session-resources.ts'
import { ok, type Result } from '../../model/errors.ts'
import { TIER_PERCENT } from '../../model/limits.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { applyingInstructions, type ApplyingInstructions } from './applying-instructions.ts'
import { previewRequest, type PreviewedSession } from './preview.ts'

/** How full the window of a Session's model is. */
export interface SessionContext extends WindowParts {
  readonly model: string
  /** Absent if the window of the model is unknown. */
  readonly window_tokens?: number
  /** Where the tiers begin, in percent. */
  readonly limits: TierLimits
  /** As recorded with the last call since the last compaction; absent without one. */
  readonly recorded?: Filling
  /** The next request, without a message: an estimate. */
  readonly next: Filling
  readonly request_bytes: number
  /** The project instructions that apply. */
  readonly instructions: readonly ApplyingInstructions[]
}

/** Tokens, and the share of the window that they fill if it is known. */
export interface Filling {
  readonly tokens: number
  readonly ratio?: number
  readonly tier?: PressureTier
}

/** Composes the next request without a message. Sends and writes nothing. */
export async function sessionContext(
  parts: SessionParts,
  session: PreviewedSession,
): Promise<Result<SessionContext>> {
  const preview = await previewRequest(parts, session, '')
  if (!preview.ok) return preview
  const instructions = await applyingInstructions(parts.tools.instructions, {
    folder: parts.workspace.folder ?? '',
    events: session.events,
  })
  if (!instructions.ok) return instructions
  const { body, projections: projected, segments } = preview.value
  const { events, state } = session
  const { provider, model } = state
  const { limits = TIER_PERCENT } = parts.model.pressure ?? {}
  const window_tokens = parts.model.factsOf(provider, model)?.window_tokens
  const filling = (tokens: number): Filling =>
    window_tokens === undefined
      ? { tokens }
      : { tokens, ratio: tokens / window_tokens, tier: tierOf(tokens, window_tokens, limits) }
  const gauge = gaugeOf(events, { model, dialect: parts.model.dialectNameOf(provider) })
  const resources = new SessionResources(events)
  const next = estimatedTokens(
    { request_bytes: body.length, projected },
    gauge,
    (id) => resources.byId(id)?.descriptor.kind,
  )
  return ok({
    model,
    ...(window_tokens === undefined ? {} : { window_tokens }),
    limits,
    ...(gauge === undefined ? {} : { recorded: filling(gauge.tokens) }),
    next: filling(next),
    request_bytes: body.length,
    ...windowParts(segments, events),
    instructions: instructions.value,
  })
}
