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

/** The cost of a Turn is known only if the cost of each of its calls is known. */
export function addUsage(
  total: UsageTotal,
  { usage, cost }: Pick<ProviderAnswer, 'usage' | 'cost'>,
): UsageTotal {
  const before = total.calls === 0 ? 0 : total.cost_usd
  const known = cost !== undefined && before !== undefined
  return {
    input: total.input + usage.input,
    cached_read: total.cached_read + usage.cached_read,
    cache_write: total.cache_write + usage.cache_write,
    output: total.output + usage.output,
    reasoning: total.reasoning + usage.reasoning,
    calls: total.calls + 1,
    ...(known ? { cost_usd: Number((before + cost).toFixed(9)) } : {}),
  }
}
