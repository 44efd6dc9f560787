import * as z from 'zod'
import { isJsonObject, parseJson } from '../../encoding/json.ts'
import { failed, ok, type Result } from '../../model/errors.ts'

/** What an event says. `invalid_response` when it is not JSON, or what is known here has another shape. */
export function readEvent(data: string): Result<ChatEvent> {
  if (data.trim() === '[DONE]') return ok({ type: 'end' })
  const said = parseJson(data)
  if (isFault(said)) return ok({ type: 'fault', said })
  const read = Chunk.safeParse(said)
  if (read.success) return ok({ type: 'chunk', ...read.data })
  return failed('invalid_response', 'The model sent an event that cannot be read.')
}

export type ChatEvent =
  | { readonly type: 'end' }
  /** In any of the shapes that servers have for it. */
  | { readonly type: 'fault'; readonly said: unknown }
  | ({ readonly type: 'chunk' } & VendorChunk)

function isFault(said: unknown): boolean {
  return isJsonObject(said) && (Boolean(said['error']) || said['object'] === 'error')
}

/** Empty where it is absent: servers leave out, set to null, and leave empty what they have nothing to say about. */
const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? '')

/** Most servers count from 0, and some do not count what they send only one of. */
const Index = z
  .int()
  .nonnegative()
  .nullish()
  .transform((index) => index ?? 0)

const Count = z.int().nonnegative().nullish()

const CallDelta = z.object({
  index: Index,
  id: Text,
  function: z.object({ name: Text, arguments: Text }).nullish(),
})

const Delta = z.object({
  content: Text,
  refusal: Text,
  tool_calls: z.array(CallDelta).nullish(),
  // Not the vendor's: the two names that compatible servers have for one thing.
  reasoning_content: Text,
  reasoning: Text,
})

const Choice = z.object({ index: Index, delta: Delta.nullish(), finish_reason: Text })

const Usage = z.looseObject({
  prompt_tokens: Count,
  prompt_tokens_details: z
    .looseObject({ cached_tokens: Count, cache_write_tokens: Count })
    .nullish(),
  /** The name of another vendor for cached tokens. */
  prompt_cache_hit_tokens: Count,
  completion_tokens: Count,
  completion_tokens_details: z.looseObject({ reasoning_tokens: Count }).nullish(),
})

const Chunk = z.object({
  id: Text,
  model: Text,
  service_tier: Text,
  choices: z.array(Choice).nullish(),
  usage: Usage.nullish(),
})

export type VendorChunk = z.output<typeof Chunk>
export type VendorDelta = z.output<typeof Delta>
export type VendorCallDelta = z.output<typeof CallDelta>
export type ChatUsage = z.output<typeof Usage>
