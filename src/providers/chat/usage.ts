import * as z from 'zod'
import { Count } from '../../model/shape.ts'
import type { CallUsage } from '../provider.ts'

const TokenCount = Count.nullish()

export const ChatUsage = z.looseObject({
  prompt_tokens: TokenCount,
  prompt_tokens_details: z
    .looseObject({ cached_tokens: TokenCount, cache_write_tokens: TokenCount })
    .nullish(),
  /** Another vendor's name for cached tokens. */
  prompt_cache_hit_tokens: TokenCount,
  completion_tokens: TokenCount,
  completion_tokens_details: z.looseObject({ reasoning_tokens: TokenCount }).nullish(),
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
