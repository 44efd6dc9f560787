import { lostCalls } from '../history/results/turn-result.ts'
import type { TurnParts } from './parts/turn-parts.ts'
import type { EventData } from '../model/events/event.ts'
import type { ProviderAnswer } from './answer.ts'

export type UsageTotal = EventData<'turn_ended'>['usage_total']

export const NO_USAGE: UsageTotal = {
  input: 0,
  cached_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  calls: 0,
}

/** Of the calls that a continued Turn made before. */
export function usageBefore({
  events,
  turn,
}: Pick<TurnParts['log'], 'events' | 'turn'>): UsageTotal {
  return usageAfter(lostCalls(events().filter(({ turn_id }) => turn_id === turn)))
}

/** The usage of a Turn that lost this many calls in crashes; nothing of other calls is counted yet. */
export function usageAfter(count: number): UsageTotal {
  return count === 0 ? NO_USAGE : { ...NO_USAGE, unknown_calls: count }
}

/** The cost of a Turn is known only if the cost of each of its calls is known. */
export function addUsage(
  total: UsageTotal,
  { usage, cost }: Pick<ProviderAnswer, 'usage' | 'cost'>,
): UsageTotal {
  const { unknown_calls } = total
  const before = total.calls === 0 && unknown_calls === undefined ? 0 : total.cost_usd
  const known = cost !== undefined && before !== undefined
  return {
    input: total.input + usage.input,
    cached_read: total.cached_read + usage.cached_read,
    cache_write: total.cache_write + usage.cache_write,
    output: total.output + usage.output,
    reasoning: total.reasoning + usage.reasoning,
    calls: total.calls + 1,
    ...(unknown_calls === undefined ? {} : { unknown_calls }),
    ...(known ? { cost_usd: Number((before + cost).toFixed(9)) } : {}),
  }
}
