import * as z from 'zod'
import { depthWithin, parseJson } from '../../encoding/json.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { otherThan } from '../unknown-types.ts'
import { LIMITS } from '../../model/limits.ts'
import { Count } from '../../model/shape.ts'
import { MessagesUsage } from './usage.ts'

/** Parses an event. `invalid_response` if it is not JSON, or an event of a known type has an unexpected shape. */
export function readEvent(data: string): Result<MessagesEvent> {
  const read = AnyEvent.safeParse(parseJson(data))
  if (read.success) return ok(read.data)
  return failed('invalid_response', 'The provider sent an event that could not be parsed.')
}

const VendorMessage = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  usage: MessagesUsage.nullish(),
})

const KnownBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('thinking'),
    thinking: z.string(),
    signature: z.string().nullish(),
  }),
  // The vendor does not accept other fields of such a block back.
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    id: z.string().min(1),
    name: z.string(),
    input: z.unknown().refine((input) => depthWithin(input, LIMITS.event_depth)),
  }),
])

const KnownDelta = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string() }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
])

const StopDetails = z.object({
  category: z.string().nullish(),
  explanation: z.string().nullish(),
})

const KnownEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: VendorMessage }),
  z.object({
    type: z.literal('content_block_start'),
    index: Count,
    content_block: z.union([KnownBlock, otherThan(KnownBlock)]),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index: Count,
    delta: z.union([KnownDelta, otherThan(KnownDelta)]),
  }),
  z.object({ type: z.literal('content_block_stop'), index: Count }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish(), stop_details: StopDetails.nullish() }),
    usage: MessagesUsage.nullish(),
  }),
  z.object({ type: z.literal('message_stop') }),
  // Keeps all fields: vendors report errors in many formats.
  z.looseObject({ type: z.literal('error') }),
])

const AnyEvent = z.union([KnownEvent, otherThan(KnownEvent)])

export type MessagesEvent = z.output<typeof AnyEvent>
type EventOf<Type> = Extract<MessagesEvent, { readonly type: Type }>

export type VendorBlock = EventOf<'content_block_start'>['content_block']
export type Delta = EventOf<'content_block_delta'>['delta']
export type StopDetails = z.output<typeof StopDetails>
export type VendorMessage = z.output<typeof VendorMessage>
