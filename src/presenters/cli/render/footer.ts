import { grouped } from '../../../encoding/amounts.ts'
import type { WholeEvent } from '../../../model/events/event.ts'

type Usage = WholeEvent<'turn_ended'>['data']['usage_total']

/** The cost of a Turn: tokens, the cached share, the price if known, and time. */
export function footer(usage: Usage, cost: number | undefined, ms: number): string {
  const cached = usage.input === 0 ? 0 : Math.round((usage.cached_read / usage.input) * 100)
  const parts = [
    `${grouped(usage.input)} tokens in (${cached} % cached)`,
    `${grouped(usage.output)} out`,
    ...(cost === undefined ? [] : [`$${cost.toFixed(4)}`]),
    `${(ms / 1000).toFixed(1)} s`,
  ]
  return parts.join(' · ')
}
