import type { EventData } from '../model/event.ts'
import type { CallUsage } from '../providers/provider.ts'

type UsageTotal = EventData<'turn_ended'>['usage_total']

export const NO_USAGE: UsageTotal = {
  input: 0,
  cached_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  calls: 0,
}

export function addUsage(total: UsageTotal, usage: CallUsage): UsageTotal {
  return {
    input: total.input + usage.input,
    cached_read: total.cached_read + usage.cached_read,
    cache_write: total.cache_write + usage.cache_write,
    output: total.output + usage.output,
    reasoning: total.reasoning + usage.reasoning,
    calls: total.calls + 1,
  }
}
