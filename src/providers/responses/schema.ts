import * as z from 'zod'
import { depthWithin, parseJson } from '../../encoding/json.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { Count } from '../../model/shape.ts'
import { otherThan } from '../unknown-types.ts'
import { ResponsesUsage } from './usage.ts'

/** Parses an event. `invalid_response` if it is not JSON, or an event of a known type has an unexpected shape. */
export function readEvent(data: string): Result<ResponsesEvent> {
  const repeated = REPETITION.exec(data)?.[1]
  if (repeated !== undefined) return ok({ type: 'other', of: repeated })
  const read = AnyEvent.safeParse(parseJson(data))
  if (read.success) return ok(read.data)
  return failed('invalid_response', 'The provider sent an event that could not be parsed.')
}

/** The start of events that only repeat text of earlier ones, as much as a whole answer. Parsing them costs memory for nothing. */
const REPETITION = /^\{"type":"(response\.(?:output_text|content_part)\.done)"/

/** Deep enough for any reasoning item, and shallow enough to be recorded. */
const REASONING_DEPTH = 32

const KnownContent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('output_text'), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
])

const KnownItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    content: z.array(z.union([KnownContent, otherThan(KnownContent)])),
    phase: z.string().nullish(),
  }),
  // Keeps all fields: the item is sent back unchanged.
  z
    .looseObject({ type: z.literal('reasoning') })
    .refine((item) => depthWithin(item, REASONING_DEPTH)),
  z.object({
    type: z.literal('function_call'),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status: z.string().nullish(),
  }),
])

const Item = z.union([KnownItem, otherThan(KnownItem)])

const Response = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  service_tier: z.string().nullish(),
  status: z.string().nullish(),
  output: z.array(Item).nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  error: z.unknown().optional(),
  usage: ResponsesUsage.nullish(),
})

const numbered = { sequence_number: z.number().nullish() }
/** `output_index` identifies an item: on some servers its id differs between events. */
const placed = { ...numbered, output_index: Count }
const delta = { ...placed, delta: z.string() }

const KnownEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('response.created'), ...numbered }),
  z.object({
    type: z.literal('response.output_item.added'),
    ...placed,
    item: z.object({ type: z.string() }),
  }),
  z.object({ type: z.literal('response.output_item.done'), ...placed, item: Item }),
  z.object({ type: z.literal('response.output_text.delta'), ...delta }),
  z.object({ type: z.literal('response.refusal.done'), ...placed, refusal: z.string() }),
  z.object({ type: z.literal('response.function_call_arguments.delta'), ...delta }),
  z.object({
    type: z.literal('response.function_call_arguments.done'),
    ...placed,
    arguments: z.string(),
  }),
  z.object({
    type: z.literal('response.reasoning_summary_part.added'),
    ...placed,
    summary_index: Count,
  }),
  z.object({ type: z.literal('response.reasoning_summary_text.delta'), ...delta }),
  z.object({ type: z.literal('response.reasoning_text.delta'), ...delta }),
  z.object({ type: z.literal('response.completed'), ...numbered, response: Response }),
  z.object({ type: z.literal('response.incomplete'), ...numbered, response: Response }),
  z.object({ type: z.literal('response.failed'), response: Response }),
  // Keeps all fields: servers report errors in many formats.
  z.looseObject({ type: z.literal('error'), status: z.int().nullish().catch(undefined) }),
])

const AnyEvent = z.union([KnownEvent, otherThan(KnownEvent)])

export type ResponsesEvent = z.output<typeof AnyEvent>
export type OutputItem = z.output<typeof Item>
export type VendorResponse = z.output<typeof Response>
