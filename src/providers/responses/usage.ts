import * as z from 'zod'
import { Count } from '../../model/shape.ts'
import type { CallUsage } from '../provider.ts'

export const ResponsesUsage = z.object({
  input_tokens: Count,
  input_tokens_details: z
    .object({ cached_tokens: Count.nullish(), cache_write_tokens: Count.nullish() })
    .nullish(),
  output_tokens: Count,
  output_tokens_details: z.object({ reasoning_tokens: Count.nullish() }).nullish(),
  total_tokens: Count.nullish(),
})
export type ResponsesUsage = z.output<typeof ResponsesUsage>

export function usageOf(usage: ResponsesUsage | undefined): CallUsage {
  return {
    input: usage?.input_tokens ?? 0,
    cached_read: usage?.input_tokens_details?.cached_tokens ?? 0,
    cache_write: usage?.input_tokens_details?.cache_write_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    reasoning: usage?.output_tokens_details?.reasoning_tokens ?? 0,
  }
}
