import * as z from 'zod'
import { isJsonObject, parseJson } from '../../encoding/json.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { ChatUsage } from './usage.ts'

/** Parses an event. `invalid_response` if it is not JSON, or a known field has an unexpected type. */
export function readEvent(data: string): Result<ChatEvent> {
  if (data.trim() === '[DONE]') return ok({ type: 'end' })
  const value = parseJson(data)
  if (isFault(value)) return ok({ type: 'fault', value })
  const read = Chunk.safeParse(value)
  if (read.success) return ok({ type: 'chunk', ...read.data })
  return failed('invalid_response', 'The provider sent an event that could not be parsed.')
}

export type ChatEvent =
  | { readonly type: 'end' }
  /** In any format that servers use. */
  | { readonly type: 'fault'; readonly value: unknown }
  | ({ readonly type: 'chunk' } & VendorChunk)

function isFault(value: unknown): boolean {
  return isJsonObject(value) && (Boolean(value['error']) || value['object'] === 'error')
}

/** Empty if absent: servers omit fields without content, set them to null, or leave them empty. */
const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? '')

/** Some servers send no index if there is only one. */
const Index = z
  .int()
  .nonnegative()
  .nullish()
  .transform((index) => index ?? 0)

const CallDelta = z.object({
  index: Index,
  id: Text,
  function: z.object({ name: Text, arguments: Text }).nullish(),
})

const Delta = z.object({
  content: Text,
  refusal: Text,
  tool_calls: z.array(CallDelta).nullish(),
  // Not part of the vendor's API: two names of compatible servers for the same field.
  reasoning_content: Text,
  reasoning: Text,
})

const Choice = z.object({ index: Index, delta: Delta.nullish(), finish_reason: Text })

const Chunk = z.object({
  id: Text,
  model: Text,
  service_tier: Text,
  choices: z.array(Choice).nullish(),
  usage: ChatUsage.nullish(),
})

export type VendorChunk = z.output<typeof Chunk>
export type VendorDelta = z.output<typeof Delta>
export type VendorCallDelta = z.output<typeof CallDelta>
