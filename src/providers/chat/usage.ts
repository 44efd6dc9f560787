import * as z from 'zod'
import type { CallUsage } from '../provider.ts'

const Count = z.int().nonnegative().nullish()

export const ChatUsage = z.looseObject({
  prompt_tokens: Count,
  prompt_tokens_details: z
    .looseObject({ cached_tokens: Count, cache_write_tokens: Count })
    .nullish(),
  /** Another vendor's name for cached tokens. */
  prompt_cache_hit_tokens: Count,
  completion_tokens: Count,
  completion_tokens_details: z.looseObject({ reasoning_tokens: Count }).nullish(),
})
export type ChatUsage = z.output<typeof ChatUsage>

export function usageOf(usage: ChatUsage): CallUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  return {
    input: usage.prompt_tokens ?? 0,
    cached_read: prompt?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0,
    cache_write: prompt?.cache_write_tokens ?? 0,
    output: usage.completion_tokens ?? 0,
    reasoning: completion?.reasoning_tokens ?? 0,
  }
}
