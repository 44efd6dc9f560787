import { TIER_PERCENT } from '../model/limits.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import { planCompaction, type CompactionPlan, type PlanOptions } from './compaction-plan.ts'
import type { TierLimits } from './pressure.ts'

/** A compaction inside a Turn. */
export interface TurnPlanOptions extends Pick<
  PlanOptions,
  'trigger' | 'surface' | 'window' | 'pointers'
> {
  readonly active: TurnId
  readonly limits?: TierLimits | undefined
  /** The most tokens of the next request, after the provider refused more. */
  readonly target?: number | undefined
}

/**
 * Plans a compaction before a call: to the target of a compaction by hand, or else below the advisory tier. Pure.
 */
export function planPreflight(
  events: readonly WholeEvent[],
  { limits = TIER_PERCENT, window, ...options }: TurnPlanOptions,
): CompactionPlan {
  const plan = planCompaction(events, { ...options, window })
  if (plan.compactable || window === undefined) return plan
  const target = Math.floor((window * limits.advisory) / 100)
  return planCompaction(events, { ...options, window, target })
}

/**
 * Plans a compaction of a request that was refused or lost: like a preflight if that suffices, then with pointers to
 * outputs that the model has not read yet, and at last whatever saves most. Pure.
 */
export function planRecovery(
  events: readonly WholeEvent[],
  options: TurnPlanOptions,
): CompactionPlan {
  const gentle = { ...options, leastGain: LEAST_GAIN }
  const plan =
    options.target === undefined ? planPreflight(events, gentle) : planCompaction(events, gentle)
  if (plan.compactable) return plan
  return planCompaction(events, { ...gentle, unread: true, best: true })
}

/** A request that does not fit is worth no cached prefix; with less to gain, it will not fit afterwards either. */
const LEAST_GAIN = 0.01
