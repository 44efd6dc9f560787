import { countOf, groupDigits } from '../../../encoding/amounts.ts'
import type { WholeEvent } from '../../../model/events/event.ts'

type Usage = WholeEvent<'turn_ended'>['data']['usage_total']

/** The cost of a Turn: tokens, the cached share, the price if known, and time. */
export function footer(usage: Usage, cost: number | undefined, ms: number): string {
  const { unknown_calls = 0 } = usage
  const cached = usage.input === 0 ? 0 : Math.round((usage.cached_read / usage.input) * 100)
  const parts = [
    `${groupDigits(usage.input)} tokens in (${cached} % cached)`,
    `${groupDigits(usage.output)} out`,
    ...(unknown_calls === 0 ? [] : [`${countOf(unknown_calls, 'call')} of unknown cost`]),
    ...(cost === undefined ? [] : [`$${cost.toFixed(4)}`]),
    `${(ms / 1000).toFixed(1)} s`,
  ]
  return parts.join(' · ')
}
