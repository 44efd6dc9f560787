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
 * Whether the tier of a request is to be announced before it is sent: neither it nor a higher one was announced since the
 * last compaction in force. Pure.
 */
export function isEstimateNews(
  events: readonly WholeEvent[],
  tier: PressureTier,
): tier is Exclude<PressureTier, 'none'> {
  if (tier === 'none') return false
  for (const event of currentRange(events)) {
    const announced = noticeTier(event)
    if (announced !== undefined && isAtLeast(announced, tier)) return false
  }
  return true
}

/**
 * Whether the tier of a usage that is not recorded yet is to be announced: no usage announced it or a higher one since the
 * last compaction in force. An estimate that its own call confirmed counts too, but not for the critical tier, which a
 * compaction follows from. Pure.
 */
export function isUsageNews(
  events: readonly WholeEvent[],
  tier: PressureTier,
): tier is Exclude<PressureTier, 'none'> {
  if (tier === 'none') return false
  /** The tier of the usage that followed the Event. */
  let followed: PressureTier = tier
  for (const event of currentRange(events)) {
    const estimated = tier === 'critical' ? undefined : noticeTier(event)
    if (estimated !== undefined && isAtLeast(estimated, tier) && isAtLeast(followed, estimated))
      return false
    if (event.type !== 'provider_usage' || event.data.pressure === 'unavailable') continue
    const { pressure } = event.data
    if (pressure.notice === true && isAtLeast(pressure.tier, tier)) return false
    followed = pressure.tier
  }
  return true
}

/** The tier that a notice announced, by a usage or an estimate. */
function noticeTier(event: WholeEvent): PressureTier | undefined {
  if (event.type !== 'notice') return undefined
  const { code } = event.data
  return PRESSURE_TIERS.find((tier) => tier !== 'none' && TIER_NOTICES[tier] === code)
}

/** The code of the notice that a compaction before a call would not have made enough room. */
export const FRUITLESS_NOTICE = 'preflight_fruitless'

/**
 * Whether a fruitless preflight is to be announced: it was not since the last compaction in force, and since a usage that was
 * not critical. Pure.
 */
export function isFruitlessNews(events: readonly WholeEvent[]): boolean {
  for (const event of currentRange(events)) {
    if (event.type === 'notice' && event.data.code === FRUITLESS_NOTICE) return false
    if (event.type !== 'provider_usage') continue
    const { pressure } = event.data
    if (pressure !== 'unavailable' && pressure.tier !== 'critical') return true
  }
  return true
}
