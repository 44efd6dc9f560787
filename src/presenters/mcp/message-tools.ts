import * as z from 'zod'
import { timestamp } from '../../host/clock.ts'
import type { Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { boundedText } from '../../model/shape.ts'
import { FRAME_TYPES } from '../../model/tether/frame.ts'
import { deliver } from '../../tether/deliver.ts'
import { MOST_LIMIT, MOST_WAIT_MS } from '../../tether/frames/frame-query.ts'
import type { AcceptedFrame } from '../../tether/tether.ts'
import { InstanceArgument } from './arguments.ts'
import { ACTS, asResult, READS, tool } from './definition.ts'
import { CHANNEL, readFrames } from './read-frames.ts'
import type { ServedTool, ToolParts } from './tool.ts'
import { failureResult, IMAGE_TYPES, newMessage, valueResult } from './translate.ts'

/** Sending a message to an Instance, and reading its answer. */
export function messageTools(parts: ToolParts): readonly ServedTool[] {
  return [sendTool(parts), readTool(parts)]
}

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

const SendInput = z
  .strictObject({
    instance: InstanceArgument,
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

const sendTool = (parts: ToolParts) =>
  tool({
    name: 'tether_send',
    title: 'Send a message to an Instance',
    description: `Sends a message to the agent of an Instance, and wakes it if it sleeps. Returns as soon as the message is stored, without waiting for the agent: it cannot be lost from then on, and the answer is read with tether_read.

Messages of one session_id run one after the other; different session_ids are separate conversations. Up to 4 images (png, jpeg, gif, webp; 10 MiB each, 18 MiB together) can be sent as base64. If one of them is refused, nothing is sent.`,
    annotations: ACTS,
    input: SendInput,
    output: z.object({
      msg_id: z
        .string()
        .describe('Identifies the message; pass it to tether_read as reply_to_msg_id.'),
      session_id: z.string(),
      ingress_seq: z
        .int()
        .describe('The number of the message: pass it to tether_read as after_seq.'),
    }),
    run: async (input) => asResult(await send(parts, input)),
  })

async function send(
  { tether, clock, ids }: ToolParts,
  input: z.infer<typeof SendInput>,
): Promise<Result<AcceptedFrame>> {
  const { instance, session_id = 'default' } = input
  const message = newMessage(input)
  if (!message.ok) return message
  const { text, images } = message.value
  return deliver(tether, instance, {
    ts: timestamp(clock),
    session: { channel: CHANNEL, id: session_id },
    msg_id: `${CHANNEL}-${ids.request()}`,
    payload: { text },
    images,
  })
}

const readTool = (parts: ToolParts) =>
  tool({
    name: 'tether_read',
    title: "Read an Instance's answers",
    description: `Waits for frames of an Instance and returns them: the answer to a message (assistant.done), or why there is none (error).

After tether_send, call it with after_seq = ingress_seq and reply_to_msg_id = msg_id. If timed_out is true, call it again with after_seq = next_seq; a task may take many such calls. The first content item is the page as JSON. Images of answers follow as image items, in the order of the frames. A page ends early before its images exceed 40 MiB: read on from next_seq. An answer with truncated = true is only the beginning of a long text.

Reading changes nothing, wakes nothing, and can be repeated with any cursor. If frames at the cursor are no longer kept, the error cursor_expired names the first one that is.`,
    annotations: READS,
    input: z.strictObject({
      instance: InstanceArgument,
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
    }),
    output: z.object({
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
    }),
    run: async (input, context) => {
      const read = await readFrames(parts, input, context)
      return read.ok ? valueResult(read.value.page, read.value.images) : failureResult(read.error)
    },
  })
