import * as z from 'zod'
import { ERROR_KINDS } from '../errors.ts'
import { BLOB_EXTENSIONS, BlobKey, TurnId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { Count, Flag, openObject, type Frozen } from '../shape.ts'
import { Sender, TetherAddress } from './tether-address.ts'
import { TurnStatus } from '../turn-status.ts'

/** An image by reference. Strict: a frame never contains bytes, in any field. */
export const ImageReference = z
  .strictObject({
    media_type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
    blob: z.string().regex(/^[a-f0-9]{64}\.(png|jpg|gif|webp)$/),
    size: z.int().positive(),
  })
  .refine(({ media_type, blob }) => blob.endsWith(`.${BLOB_EXTENSIONS[media_type]}`))
export type ImageReference = Frozen<z.infer<typeof ImageReference>>

const images = z.array(ImageReference).max(LIMITS.frame_images).optional()

const UserMessagePayload = openObject(() => ({
  text: z.string(),
  images,
  user: Sender.optional(),
})).refine((message) => message.text !== '' || (message.images ?? []).length > 0)

const DeltaPayload = openObject(() => ({ text: z.string() })).refine(
  (delta) => !Object.hasOwn(delta, 'images'),
)

const DonePayload = openObject(() => ({
  text: z.string(),
  images,
  status: TurnStatus,
  truncated: Flag,
  /** The whole text, if `text` is only its beginning. */
  text_blob: BlobKey.optional(),
}))

const ErrorPayload = openObject(() => ({
  kind: z.enum(ERROR_KINDS),
  message: z.string(),
  retryable: z.boolean(),
}))

const Nothing = openObject(() => ({}))

function frame<T extends string, P extends z.ZodType>(type: T, payload: P) {
  return openObject(() => ({
    v: z.literal(1),
    type: z.literal(type),
    ts: z.iso.datetime({ offset: true }),
    session: TetherAddress,
    msg_id: z.string().min(1),
    turn_id: TurnId.optional(),
    in_reply_to: z.string().min(1).optional(),
    seq: Count,
    payload,
  }))
}

/** One tether message as the daemon stores it. The daemon assigns `seq`; senders must not. */
export const Frame = z.discriminatedUnion('type', [
  frame('user.message', UserMessagePayload),
  frame('control.cancel', Nothing),
  frame('control.ping', Nothing),
  frame(
    'event.ack',
    openObject(() => ({ status: z.string() })),
  ),
  frame(
    'status.presence',
    openObject(() => ({ state: z.string() })),
  ),
  frame('assistant.delta', DeltaPayload),
  frame('reasoning.delta', DeltaPayload),
  frame('assistant.done', DonePayload),
  frame('error', ErrorPayload),
  frame('status.pong', Nothing),
])
export type Frame = Frozen<z.infer<typeof Frame>>

export type FrameType = Frame['type']

export const FRAME_TYPES: readonly FrameType[] = Frame.options.map(({ shape }) => shape.type.value)

/** The direction of a frame. One from the wrong side is refused. */
export const FRAME_DIRECTIONS = {
  'user.message': 'guest',
  'control.cancel': 'guest',
  'control.ping': 'guest',
  'event.ack': 'host',
  'status.presence': 'host',
  'assistant.delta': 'host',
  'reasoning.delta': 'host',
  'assistant.done': 'host',
  error: 'host',
  'status.pong': 'host',
} as const satisfies Record<FrameType, 'guest' | 'host'>
