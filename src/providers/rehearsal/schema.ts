import * as z from 'zod'
import { isBase64 } from '../../encoding/base64.ts'
import { parseJson } from '../../encoding/json.ts'
import { failed, ok, type Result } from '../../model/errors.ts'

/** Parses a body. Returns `invalid_args`, as a vendor would, if it is not a request of this dialect. */
export function readRequest(body: Uint8Array): Result<RehearsalRequest> {
  const read = Request.safeParse(parseJson(Buffer.from(body).toString('utf8')))
  if (read.success) return ok(read.data)
  return failed('invalid_args', `Not a rehearsal request: ${z.prettifyError(read.error)}`)
}

/** Roles and parts of later versions keep their name, and readers that do not know them skip them. */
const KnownPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('blob'),
    media_type: z.string(),
    handle: z.string().optional(),
    /** Base64. */
    data: z.string().refine(isBase64, 'not base64'),
  }),
])

const OtherPart = z
  .looseObject({ type: z.string() })
  .refine(({ type }) => type !== 'text' && type !== 'blob')
  .transform(({ type }) => ({ type: 'other' as const, of: type }))

const PARTS = { parts: z.array(z.union([KnownPart, OtherPart])) }

const KnownSegment = z.discriminatedUnion('role', [
  z.object({
    role: z.literal('params'),
    model: z.string(),
    contract_version: z.string(),
    tool_choice: z.string(),
    effort: z.string().optional(),
  }),
  z.object({
    role: z.literal('tool'),
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
  }),
  z.object({ role: z.literal('system'), text: z.string() }),
  z.object({ role: z.literal('user'), ...PARTS }),
  z.object({ role: z.literal('developer'), ...PARTS }),
  z.object({ role: z.literal('assistant'), ...PARTS }),
  z.object({ role: z.literal('reasoning'), item: z.unknown() }),
  z.object({
    role: z.literal('tool_call'),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({
    role: z.literal('tool_result'),
    call_id: z.string(),
    name: z.string(),
    outcome: z.enum(['ok', 'failed', 'denied', 'unknown']),
    output: z.string(),
  }),
])

const KNOWN_ROLES: ReadonlySet<string> = new Set(
  KnownSegment.options.map((option) => option.shape.role.value),
)

const OtherSegment = z
  .looseObject({ role: z.string() })
  .refine(({ role }) => !KNOWN_ROLES.has(role))
  .transform(({ role }) => ({ role: 'other' as const, of: role }))

const Request = z.object({
  dialect: z.literal('rehearsal'),
  segments: z.array(z.union([KnownSegment, OtherSegment])),
})

export type RehearsalRequest = z.output<typeof Request>
export type RehearsalSegment = RehearsalRequest['segments'][number]
/** A segment before it is parsed. */
export type WrittenSegment = z.input<typeof KnownSegment>
