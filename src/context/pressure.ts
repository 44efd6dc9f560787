import type { EventData, WholeEvent } from '../model/events/event.ts'
import { PRESSURE_TIERS } from '../model/events/provider-events.ts'
import type { ModelFacts } from '../model/model-facts.ts'
import { TIER_PERCENT } from '../model/limits.ts'
import { currentRange } from '../history/current-range.ts'

type Pressure = EventData<'provider_usage'>['pressure']

export type PressureTier = (typeof PRESSURE_TIERS)[number]

/** Where each tier begins, in percent of the window. */
export type TierLimits = Readonly<Record<Exclude<PressureTier, 'none'>, number>>

/**
 * How much of the window the prompt of a call filled. The answer is not counted: the next call counts it as prompt.
 * `unavailable` without a known window. Pure.
 */
export function pressureOf(
  { input }: Pick<EventData<'provider_usage'>['usage'], 'input'>,
  { window_tokens }: Pick<ModelFacts, 'window_tokens'> = {},
  limits: TierLimits = TIER_PERCENT,
): Pressure {
  if (window_tokens === undefined) return 'unavailable'
  return { tier: tierOf(input, window_tokens, limits), ratio: input / window_tokens, window_tokens }
}

/** In whole numbers, so that a limit is met exactly. Advisory and warning include their limit; critical is above it. */
export function tierOf(
  tokens: number,
  window: number,
  { advisory, warning, critical }: TierLimits = TIER_PERCENT,
): PressureTier {
  if (tokens * 100 > window * critical) return 'critical'
  if (tokens * 100 >= window * warning) return 'warning'
  return tokens * 100 >= window * advisory ? 'advisory' : 'none'
}

/** Whether the first tier is at least the second. */
export function isAtLeast(tier: PressureTier, other: PressureTier): boolean {
  return PRESSURE_TIERS.indexOf(tier) >= PRESSURE_TIERS.indexOf(other)
}

/** The codes of the notices that announce a tier. */
export const TIER_NOTICES = {
  advisory: 'context_advisory',
  warning: 'context_warning',
  critical: 'context_critical',
} as const satisfies Record<Exclude<PressureTier, 'none'>, string>

/**
 * Whether a tier is to be announced: neither it nor a higher one was announced since the last compaction in force. Pure.
 */
export function isNews(
  events: readonly WholeEvent[],
  tier: PressureTier,
): tier is Exclude<PressureTier, 'none'> {
  if (tier === 'none') return false
  for (const event of currentRange(events)) {
    if (event.type !== 'notice') continue
    const announced = announcedBy(event.data.code)
    if (announced !== undefined && isAtLeast(announced, tier)) return false
  }
  return true
}

function announcedBy(code: string): PressureTier | undefined {
  return PRESSURE_TIERS.find((tier) => tier !== 'none' && TIER_NOTICES[tier] === code)
}
