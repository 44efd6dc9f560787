import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import type { FrameToHost } from '../../model/tether/frame.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { FrameOf } from '../frames/guest-frames.ts'

/**
 * A frame of a guest with the fields of its type only: a guest is of our version, so anything else, such as a `seq` or bytes, is
 * not from us. `undefined` if its text is too long.
 */
export function cleanFrame(frame: FrameToHost): FrameToHost | undefined {
  const { payload } = frame
  if ('text' in payload && utf8Bytes(payload.text) > LIMITS.frame_text_bytes) return undefined
  const { ts, session, msg_id, turn_id, in_reply_to } = frame
  const envelope = {
    v: 1,
    ts,
    session: { channel: session.channel, id: session.id },
    msg_id,
    ...definedFields({ turn_id, in_reply_to }),
  } as const
  switch (frame.type) {
    case 'event.ack':
      return { ...envelope, type: frame.type, payload: { status: frame.payload.status } }
    case 'status.presence':
      return { ...envelope, type: frame.type, payload: { state: frame.payload.state } }
    case 'assistant.delta':
    case 'reasoning.delta':
      return { ...envelope, type: frame.type, payload: { text: frame.payload.text } }
    case 'assistant.done': {
      const { text, images, status, truncated, text_blob, notices } = frame.payload
      const done = {
        text,
        ...definedFields({ images }),
        status,
        ...definedFields({ truncated, text_blob }),
        ...cleanNotices(notices),
      }
      return { ...envelope, type: frame.type, payload: done }
    }
    case 'error': {
      const { kind, message, retryable, notices } = frame.payload
      const error = { kind, message, retryable, ...cleanNotices(notices) }
      return { ...envelope, type: frame.type, payload: error }
    }
    case 'status.pong':
      return { ...envelope, type: frame.type, payload: {} }
    default:
      return frame satisfies never
  }
}

function cleanNotices(notices: FrameOf<'assistant.done'>['payload']['notices']) {
  return notices === undefined ? {} : { notices: notices.map(({ code, text }) => ({ code, text })) }
}
