import * as z from 'zod'
import { Count } from '../../model/shape.ts'
import type { CallUsage } from '../provider.ts'

/** Running totals of an answer. Later figures replace earlier ones; absent figures do not change. */
export const MessagesUsage = z.looseObject({
  input_tokens: Count.nullish(),
  cache_read_input_tokens: Count.nullish(),
  cache_creation_input_tokens: Count.nullish(),
  output_tokens: Count.nullish(),
  output_tokens_details: z.object({ thinking_tokens: Count.nullish() }).nullish(),
})
export type MessagesUsage = z.output<typeof MessagesUsage>

/** Later figures replace earlier ones; absent figures do not change. */
export function laterUsage(before: MessagesUsage, reported: MessagesUsage): MessagesUsage {
  const figures = Object.entries(reported).filter(([, figure]) => figure !== null)
  return { ...before, ...Object.fromEntries(figures) }
}

export function usageOf(usage: MessagesUsage): CallUsage {
  const cached_read = usage.cache_read_input_tokens ?? 0
  const cache_write = usage.cache_creation_input_tokens ?? 0
  return {
    // The vendor's figure excludes tokens that were read from or written to the cache.
    input: (usage.input_tokens ?? 0) + cached_read + cache_write,
    cached_read,
    cache_write,
    output: usage.output_tokens ?? 0,
    reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
  }
}
