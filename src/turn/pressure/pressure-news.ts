import { estimatedTokens, gaugeOf } from '../../context/gauge.ts'
import {
  isEstimateNews,
  isUsageNews,
  pressureOf,
  tierOf,
  TIER_NOTICES,
  type PressureTier,
} from '../../context/pressure.ts'
import { groupDigits } from '../../encoding/amounts.ts'
import { historyOf } from '../../history/history.ts'
import { SessionResources } from '../../history/session-resources.ts'
import { withoutCalls } from '../../history/without-calls.ts'
import type { NextAction } from '../../model/errors.ts'
import type { EventData, EventDraft, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { CallUsage } from '../../providers/provider.ts'
import type { ComposedRequest } from '../../request/compose-request.ts'
import type { TurnParts } from '../parts/turn-parts.ts'

type Parts = Pick<TurnParts, 'log' | 'model' | 'context'>

/** News about a call for people. */
export interface News {
  /** Recorded in the same write as its request or its usage. */
  readonly drafts: readonly EventDraft[]
  /** Shows it live; called when the drafts are durable. */
  readonly publish: () => void
}

export const NO_NEWS: News = { drafts: [], publish: () => {} }

/** The pressure of a call, and the announcement of a tier that its usage reached. */
export function usageNews(
  parts: Parts,
  usage: CallUsage,
): News & Pick<EventData<'provider_usage'>, 'pressure'> {
  const { model, context } = parts
  const pressure = pressureOf(usage, model.facts, context.limits)
  if (pressure === 'unavailable') return { pressure, ...windowUnknown(parts) }
  const { tier, window_tokens } = pressure
  const news = tierNews(parts, { tier, window_tokens, tokens: usage.input, isEstimate: false })
  return { pressure: news === NO_NEWS ? pressure : { ...pressure, notice: true }, ...news }
}

/** The announcement of a tier that a request reaches by estimate, before it is sent. */
export function requestNews(parts: Parts, request: ComposedRequest): News {
  const { model, context } = parts
  const window_tokens = model.facts?.window_tokens
  if (window_tokens === undefined) return NO_NEWS
  const tokens = estimate(parts, request)
  const tier = tierOf(tokens, window_tokens, context.limits)
  return tierNews(parts, { tier, window_tokens, tokens, isEstimate: true })
}

function estimate(
  { log, model }: Parts,
  { body, projections: projected }: ComposedRequest,
): number {
  const events = log.events()
  const gauge = gaugeOf(events, { dialect: model.provider.dialect, model: model.surface.model })
  let resources: SessionResources | undefined
  return estimatedTokens({ request_bytes: body.length, projected }, gauge, (id) => {
    resources ??= new SessionResources(events)
    return resources.byId(id)?.descriptor.kind
  })
}

interface ReachedTier {
  readonly tier: PressureTier
  readonly tokens: number
  readonly window_tokens: number
  readonly isEstimate: boolean
}

function tierNews({ log }: Parts, reached: ReachedTier): News {
  const { tier, tokens, window_tokens, isEstimate: estimated } = reached
  const isNews = estimated ? isEstimateNews : isUsageNews
  if (!isNews(log.events(), tier)) return NO_NEWS
  const { session } = log
  const next_actions = tier === 'advisory' ? [] : [previewAction(session)]
  const data = {
    tier,
    ratio: tokens / window_tokens,
    input_tokens: tokens,
    window_tokens,
    ...(estimated ? { estimated } : {}),
    ...(next_actions.length === 0 ? {} : { next_actions }),
  } as const
  return {
    drafts: [notice(TIER_NOTICES[tier], tierText(reached, session))],
    publish: () => log.publish({ type: 'context_pressure', data }),
  }
}

function previewAction(session: string): NextAction {
  return {
    action: 'Preview a compaction, which shortens the conversation (in a chat: /compact dry-run).',
    command: `hawser compact ${session} --dry-run --json`,
  }
}

/** How full a window is, for people. */
export function fullness(
  tokens: number,
  window_tokens: number,
): { readonly share: string; readonly figures: string } {
  // Rounded down, so that the text never shows a limit that was not reached.
  const share = `${(Math.floor((tokens / window_tokens) * 1000) / 10).toFixed(1)} %`
  return { share, figures: `${groupDigits(tokens)} of ${groupDigits(window_tokens)} tokens` }
}

function tierText(
  { tier, tokens, window_tokens, isEstimate }: ReachedTier,
  session: string,
): string {
  const { share, figures } = fullness(tokens, window_tokens)
  const full = isEstimate
    ? `The next request fills an estimated ${share} of the context window (${figures}).`
    : `The context window is ${share} full (${figures}).`
  if (tier === 'advisory') return full
  const { command } = previewAction(session)
  const then =
    tier === 'critical' && !isEstimate
      ? ' The conversation is compacted before the next request, if that saves enough.'
      : ''
  return `${full}${then} To preview a compaction: ${command}`
}

/** Said once for each model, also after a checkpoint. The rehearsal model in process has no window. */
function windowUnknown({ log, model }: Parts): News {
  if (model.provider.dialect === 'rehearsal') return NO_NEWS
  const text = `The context window of ${model.surface.model} is unknown: Hawser cannot tell how full it is. To set it: hawser config set models.${model.surface.model}.window_tokens NUMBER`
  if (wasSaid(log.events(), text)) return NO_NEWS
  return { drafts: [notice(WINDOW_UNKNOWN, text)], publish: () => {} }
}

const WINDOW_UNKNOWN = 'window_unknown'

function wasSaid(all: readonly WholeEvent[], text: string): boolean {
  const { state, events } = historyOf(all)
  return (
    state.notices.includes(text) ||
    withoutCalls(events).some(({ type, data }) => type === 'notice' && data.text === text)
  )
}
