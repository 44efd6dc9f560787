import type { ModelFacts } from '../model/model-facts.ts'
import type { CallUsage } from '../providers/provider.ts'

const MILLION = 1_000_000

/** The cost of a call in US dollars; `undefined` if a required price is unknown. Pure. */
export function costOf(usage: CallUsage, prices: ModelFacts['prices']): number | undefined {
  if (prices === undefined) return undefined
  const { input, cached_read, cache_write, output } = usage
  const counts = { input: input - cached_read - cache_write, cached_read, cache_write, output }
  const parts = (['input', 'cached_read', 'cache_write', 'output'] as const).map((kind) => {
    const tokens = Math.max(0, counts[kind])
    return tokens === 0 ? 0 : (prices[kind] ?? NaN) * tokens
  })
  const cost = parts.reduce((sum, part) => sum + part, 0) / MILLION
  return Number.isNaN(cost) ? undefined : Number(cost.toFixed(9))
}
