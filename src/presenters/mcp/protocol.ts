import * as z from 'zod'
import { ErrorObject } from '../../model/error-shape.ts'
import { LIMITS } from '../../model/limits.ts'
import { boundedText } from '../../model/shape.ts'
import { FRAME_TYPES, type FrameType } from '../../model/tether/frame.ts'
import { MOST_LIMIT, MOST_WAIT_MS } from '../../tether/frames/frame-query.ts'

/** The channel of every conversation that a program holds over MCP. */
export const CHANNEL = 'host'

/** The frames that a read returns unless it names others: the ones that end a message. */
export const ENDING_TYPES: readonly FrameType[] = ['assistant.done', 'error']

/** How long a read waits for a frame unless it says otherwise. */
export const DEFAULT_WAIT_MS = 10_000

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

const NAME_CHARACTERS = 200
const PATH_CHARACTERS = 4_096

const Instance = z
  .string()
  .min(1)
  .max(NAME_CHARACTERS)
  .describe('Handle or id of the Instance, as instance_list shows it.')

const SessionId = boundedText(1, LIMITS.tether_address_bytes).describe(
  'Name of the conversation, chosen by you; 1 to 128 bytes. An Instance can hold several, each with its own memory. Default: "default".',
)

/** Counts, types and sizes are checked later: their errors have kinds of their own. */
const NewImage = z.strictObject({
  media_type: z
    .string()
    .meta({ enum: [...IMAGE_TYPES] })
    .describe('Must match the bytes.'),
  data: z
    .string()
    .describe('The bytes in base64, padded, without a "data:" prefix; at most 10 MiB decoded.'),
})

export const SendInput = z
  .strictObject({
    instance: Instance,
    text: z
      .string()
      .describe('What to ask or tell the agent; at most 200 KiB. May be empty only beside images.'),
    images: z
      .array(NewImage)
      .meta({ maxItems: LIMITS.frame_images })
      .describe('Images that the agent sees with the text: at most 4, together at most 18 MiB.')
      .optional(),
    session_id: SessionId.optional(),
  })
  .refine(({ text, images }) => text !== '' || (images ?? []).length > 0, {
    path: ['text'],
    message: 'may be empty only beside images',
  })
export type SendInput = z.infer<typeof SendInput>

export const SendOutput = z.object({
  msg_id: z.string().describe('Identifies the message; pass it to tether_read as reply_to_msg_id.'),
  session_id: z.string(),
  ingress_seq: z.int().describe('The number of the message: pass it to tether_read as after_seq.'),
})

export const TetherReadInput = z.strictObject({
  instance: Instance,
  session_id: SessionId.optional(),
  after_seq: z
    .int()
    .min(0)
    .describe(
      'Cursor: only frames with a higher number are returned. First the ingress_seq of your message, then next_seq of the previous read. Without it, from the oldest frame that is kept.',
    )
    .optional(),
  limit: z.int().min(1).max(MOST_LIMIT).describe('Frames in one page. Default: 50.').optional(),
  wait_ms: z
    .int()
    .min(0)
    .max(MOST_WAIT_MS)
    .describe(
      'How long to wait if there is no frame yet, in milliseconds. Returns as soon as there is one. Default: 10000.',
    )
    .optional(),
  types: z
    .array(z.enum(FRAME_TYPES))
    .min(1)
    .describe(
      'Types of frames to return. Default: assistant.done and error, which end a message. Others show progress: status.presence, assistant.delta, reasoning.delta; user.message is what was sent.',
    )
    .optional(),
  reply_to_msg_id: boundedText(1, LIMITS.message_key_bytes)
    .describe('Only frames that answer this message.')
    .optional(),
})
export type TetherReadInput = z.infer<typeof TetherReadInput>

export const ReadOutput = z.object({
  frames: z
    .array(
      z.looseObject({
        type: z.string(),
        seq: z.int(),
        ts: z.string(),
        msg_id: z.string(),
        in_reply_to: z.string().optional().describe('The msg_id that this frame answers.'),
        payload: z
          .looseObject({})
          .describe(
            'Of assistant.done: text, status, and images as references. Of error: kind, message, retryable. Of both, notices: what a person must know besides the answer.',
          ),
      }),
    )
    .describe('In the order of their numbers.'),
  next_seq: z.int().describe('The after_seq of the next read.'),
  timed_out: z
    .boolean()
    .describe('No frame arrived in time: the agent is still working. Read again.'),
  first_available_seq: z.int().describe('The oldest frame that is kept.'),
})

export const CreateInput = z.strictObject({
  handle: z
    .string()
    .max(NAME_CHARACTERS)
    .describe('Name for the Instance: 1 to 64 lower-case letters, digits, "-" and "_".'),
  workspace: z
    .string()
    .min(1)
    .max(PATH_CHARACTERS)
    .describe(
      'Folder that the agent works in: an absolute path below a folder of the setting instances.roots, or "own" for a private, empty folder. Default: "own".',
    )
    .optional(),
  provider: z
    .string()
    .min(1)
    .max(NAME_CHARACTERS)
    .describe('Model provider. Default: as configured by the user.')
    .optional(),
  model: z
    .string()
    .min(1)
    .max(NAME_CHARACTERS)
    .describe('Model. Default: as configured by the user.')
    .optional(),
})
export type CreateInput = z.infer<typeof CreateInput>

export const ListInput = z.strictObject({})

export const InstanceInput = z.strictObject({ instance: Instance })
export type InstanceInput = z.infer<typeof InstanceInput>

export const InstanceOutput = z.looseObject({
  id: z.string(),
  handle: z.string(),
  state: z.enum(['stopped', 'starting', 'running', 'paused']),
  enabled: z.boolean().describe('A disabled Instance accepts no messages.'),
  waiting: z.int().describe('Messages that have not ended.'),
  isolation: z.string(),
  workspace: z.string().optional().describe('Without it, images are refused in both directions.'),
  reason: z
    .looseObject({ kind: z.string(), message: z.string() })
    .optional()
    .describe('Why it stopped, unless it was idle or stopped on request.'),
  spend: z.looseObject({ usd: z.number(), calls: z.int() }),
})

export const ListOutput = z.object({ instances: z.array(InstanceOutput) })

/** A JSON Schema of an object. */
export interface ObjectSchema {
  readonly [keyword: string]: unknown
  readonly type: 'object'
}

export function inputSchema(schema: z.ZodType): ObjectSchema {
  return { ...z.toJSONSchema(schema, { io: 'input' }), type: 'object' }
}

/**
 * What a tool returns as structured content: its value, or `error`. Some clients check also the content of an error against
 * this schema, so it allows both.
 */
export function outputSchema(schema: z.ZodObject): ObjectSchema {
  const { properties, required, ...rest } = z.toJSONSchema(schema)
  const { $schema: _, ...error } = z.toJSONSchema(ErrorObject)
  return {
    ...rest,
    type: 'object',
    properties: { ...properties, error },
    anyOf: [{ required: required ?? [] }, { required: ['error'] }],
  }
}
