import * as z from 'zod'
import { FRAME_TYPES, FrameToGuest, ImageReference } from '../../../model/tether/frame.ts'
import { MOST_LIMIT, MOST_WAIT_MS } from '../../../tether/frames/frame-query.ts'
import { LIMITS } from '../../../model/limits.ts'

/** What clients of Instances send. Unknown fields and unknown parameters are refused. */

const Name = z.string().min(1).max(200)
const Workspace = z.string().min(1).max(4_096)
const Seconds = z.int().positive()

/** What the values may be is decided by the register, which every caller uses. */
export const CreateInstance = z.strictObject({
  handle: Name,
  workspace: Workspace.optional().describe(
    'An absolute path, or `own` for a private folder. Images need one of them.',
  ),
  provider: Name.optional(),
  model: Name.optional(),
  isolation: z.enum(['sandbox', 'process']).optional(),
  enabled: z.boolean().optional(),
  idle: z.strictObject({ pause_seconds: Seconds, stop_seconds: Seconds }).optional(),
  message_seconds: Seconds.optional(),
  ceiling_usd: z.number().nonnegative().optional(),
})

export const MapInstance = z.strictObject({
  workspace: Workspace.nullable().describe(
    'An absolute path, `own` for the private folder, or null for none.',
  ),
})

/** `mcp`: created for a program that speaks MCP, which may choose less. */
export const CreateQuery = z.strictObject({ by: z.enum(['operator', 'mcp']).default('operator') })

export const SentFrame = FrameToGuest

const Address = z.string().min(1).max(LIMITS.tether_address_bytes)
const KNOWN_TYPES: ReadonlySet<string> = new Set(FRAME_TYPES)

/** Digits only: a value that is not a number is an error, never 0. */
function whole(most: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .pipe(z.int().max(most))
}
const Seq = whole(Number.MAX_SAFE_INTEGER)

const FILTER = {
  channel: Address.optional(),
  session_id: Address.optional(),
  types: z
    .string()
    .transform((text) => text.split(','))
    .refine((types) => types.every((type) => KNOWN_TYPES.has(type)))
    .optional()
    .describe('Types of frames, separated by commas.'),
  reply_to_msg_id: z.string().min(1).max(LIMITS.message_key_bytes).optional(),
}

export const PollQuery = z.strictObject({
  ...FILTER,
  after_seq: Seq.optional().describe('Frames with higher numbers, oldest first.'),
  before_seq: Seq.optional().describe('The last frames with lower numbers, in their order.'),
  limit: whole(MOST_LIMIT).pipe(z.int().min(1)).optional(),
  wait_ms: whole(MOST_WAIT_MS).optional(),
})

export const StreamQuery = z.strictObject({
  ...FILTER,
  after_seq: Seq.optional().describe('Without it, the stream begins with the next frame.'),
})

/** A request without parameters. */
export const NoQuery = z.strictObject({})

export const ImageType = ImageReference.shape.media_type
