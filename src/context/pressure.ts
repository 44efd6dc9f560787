import type { EventData } from '../model/events/event.ts'
import type { ModelFacts } from '../model/model-facts.ts'

type Pressure = EventData<'provider_usage'>['pressure']

/**
 * How much of the window the prompt of a call filled. The answer is not counted: the next call counts it as prompt.
 * `unavailable` without a known window. Pure.
 */
export function pressureOf(
  { input }: Pick<EventData<'provider_usage'>['usage'], 'input'>,
  { window_tokens }: Pick<ModelFacts, 'window_tokens'> = {},
): Pressure {
  if (window_tokens === undefined) return 'unavailable'
  return { tier: tierOf(input, window_tokens), ratio: input / window_tokens, window_tokens }
}

/** In whole numbers, so that a limit is met exactly. Advisory and warning include their limit; critical is above it. */
function tierOf(tokens: number, window: number) {
  if (tokens * 100 > window * 90) return 'critical'
  if (tokens * 100 >= window * 80) return 'warning'
  return tokens * 100 >= window * 70 ? 'advisory' : 'none'
}
