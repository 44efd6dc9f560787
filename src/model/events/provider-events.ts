import * as z from 'zod'
import { BlobKey, ResourceId, Sha256 } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { BreakCause } from '../prefix-break.ts'
import { boundedText, Count, Flag, list, Milliseconds, Opaque, openObject } from '../shape.ts'
import { VariantMade } from '../variant-made.ts'

export const Dialect = z.enum(['responses', 'messages', 'chat', 'rehearsal', 'claude-agent-sdk'])

/** One Resource whose bytes are in the request. Recorded before the request is sent. */
const Projection = openObject(() => ({
  resource_id: ResourceId,
  content_sha256: Sha256,
  /** The blob that was sent instead of the original, and how it was made. */
  variant: BlobKey.optional(),
  made: VariantMade.optional(),
  bytes: Count,
  lifetime: z.enum(['turn', 'carried', 'window']),
}))

export const ProviderRequest = openObject(() => ({
  call_index: Count,
  attempt: Count,
  dialect: Dialect,
  model: z.string(),
  contract_version: z.string(),
  cache_key: boundedText(1, LIMITS.cache_key_bytes),
  request_sha256: Sha256,
  request_bytes: Count,
  sent_bytes: Count.optional(),
  shared_prefix_bytes: Count,
  prefix_break: openObject(() => ({ at: Count, cause: BreakCause })).optional(),
  projected: list(Projection),
  transport: z.string(),
  previous_response_id_used: Flag,
}))

/** `item` is sent back verbatim to the same dialect and model only. */
export const Reasoning = openObject(() => ({ dialect: Dialect, model: z.string(), item: Opaque }))

/** `input` counts all prompt tokens, cached ones included. */
const usage = {
  input: Count,
  cached_read: Count,
  cache_write: Count,
  output: Count,
  reasoning: Count,
}

const cost = z.number().nonnegative()

export const UsageTotal = openObject(() => ({
  ...usage,
  /** Calls with known usage. */
  calls: Count,
  /** Calls that were sent before a crash: whether they were answered and charged is unknown. Not in the other figures. */
  unknown_calls: Count.optional(),
  /** Absent unless the cost of every call is known. */
  cost_usd: cost.optional(),
}))

export const PRESSURE_TIERS = ['none', 'advisory', 'warning', 'critical'] as const

const Pressure = openObject(() => ({
  tier: z.enum(PRESSURE_TIERS),
  ratio: z.number().nonnegative(),
  window_tokens: Count,
  notice: Flag,
}))

/** `contract_version` and `transport` are those of its request; absent in Logs of older versions. */
export const ProviderUsage = openObject(() => ({
  call_index: Count,
  contract_version: z.string().optional(),
  transport: z.string().optional(),
  usage: openObject(() => usage),
  raw: z.record(z.string(), z.unknown()).optional(),
  cost_usd: cost.optional(),
  latency_ms: Milliseconds,
  /** Absent if the call ended before its first token. */
  first_token_ms: Milliseconds.optional(),
  continuation: openObject(() => ({
    used: z.boolean(),
    reset_reason: z.string().optional(),
  })).optional(),
  /** Absent if the window of the model is unknown; never guessed. */
  pressure: z.union([Pressure, z.literal('unavailable')]),
  stop_reason: z.string(),
}))
