import * as z from 'zod'
import { ERROR_KINDS } from '../errors.ts'
import { BLOB_EXTENSIONS, BlobKey, TurnId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { boundedText, Count, Flag, openObject, type Frozen } from '../shape.ts'
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

/** What a person must know about the Turn of a message, besides its answer. */
const Notice = openObject(() => ({
  code: boundedText(1, LIMITS.frame_notice_bytes),
  text: boundedText(0, LIMITS.frame_notice_bytes),
}))
const notices = z.array(Notice).max(LIMITS.frame_notices).optional()

const UserMessagePayload = openObject(() => ({
  text: z.string(),
  images,
  user: Sender.optional(),
  /** What happens to messages of the same conversation that have not ended: they run first (default), or are cancelled. */
  when_busy: z.enum(['queue', 'replace']).optional(),
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
  notices,
}))

const errorPayload = (message: z.ZodType<string>) =>
  openObject(() => ({ kind: z.enum(ERROR_KINDS), message, retryable: z.boolean(), notices }))

const Nothing = openObject(() => ({}))

/** The name of a message by its sender. That of a `user.message` is its message key. */
const MessageName = boundedText(1, LIMITS.message_key_bytes)

function sentFrame<T extends string, P extends z.ZodType>(type: T, payload: P) {
  return openObject(() => sentFields(type, payload))
}

function storedFrame<T extends string, P extends z.ZodType>(type: T, payload: P) {
  return openObject(() => ({ ...sentFields(type, payload), seq: Count }))
}

function sentFields<T extends string, P extends z.ZodType>(type: T, payload: P) {
  return {
    v: z.literal(1),
    type: z.literal(type),
    ts: z.iso.datetime({ offset: true }),
    session: TetherAddress,
    msg_id: MessageName,
    turn_id: TurnId.optional(),
    in_reply_to: MessageName.optional(),
    payload,
  }
}

const ackPayload = (status: z.ZodType<string>) => openObject(() => ({ status }))
const presencePayload = (state: z.ZodType<string>) => openObject(() => ({ state }))

/** Of frames that a guest sends in any number. Those of an earlier version may be stored longer. */
const Status = boundedText(0, LIMITS.frame_status_bytes)
const ErrorMessage = boundedText(0, LIMITS.frame_error_bytes)
const Stored = z.string()

/** A frame towards a guest, as its sender writes it. A `seq` in it is ignored: the server assigns one. */
export const FrameToGuest = z.discriminatedUnion('type', [
  sentFrame('user.message', UserMessagePayload),
  sentFrame('control.cancel', Nothing),
  sentFrame('control.ping', Nothing),
])
export type FrameToGuest = Frozen<z.infer<typeof FrameToGuest>>

/** A frame of a guest. A `seq` in it is ignored. */
export const FrameToHost = z.discriminatedUnion('type', [
  sentFrame('event.ack', ackPayload(Status)),
  sentFrame('status.presence', presencePayload(Status)),
  sentFrame('assistant.delta', DeltaPayload),
  sentFrame('reasoning.delta', DeltaPayload),
  sentFrame('assistant.done', DonePayload),
  sentFrame('error', errorPayload(ErrorMessage)),
  sentFrame('status.pong', Nothing),
])
export type FrameToHost = Frozen<z.infer<typeof FrameToHost>>

/** One tether message as the server stores it. */
export const Frame = z.discriminatedUnion('type', [
  storedFrame('user.message', UserMessagePayload),
  storedFrame('control.cancel', Nothing),
  storedFrame('control.ping', Nothing),
  storedFrame('event.ack', ackPayload(Stored)),
  storedFrame('status.presence', presencePayload(Stored)),
  storedFrame('assistant.delta', DeltaPayload),
  storedFrame('reasoning.delta', DeltaPayload),
  storedFrame('assistant.done', DonePayload),
  storedFrame('error', errorPayload(Stored)),
  storedFrame('status.pong', Nothing),
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
