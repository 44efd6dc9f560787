import { wellFormedJson } from '../../encoding/json.ts'
import { failed, type Failed } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import { FrameToGuest } from '../../model/tether/frame.ts'

/** Everything in a frame but its text. */
const FRAME_ROOM = LIMITS.frame_bytes - LIMITS.frame_text_bytes

/** Why a frame must not be sent to any guest. */
export function unfitFrame(given: object): Failed | undefined {
  const frame = FrameToGuest.safeParse(given)
  if (!frame.success) {
    const field = frame.error.issues[0]?.path.join('.') ?? ''
    return failed('invalid_args', `This is not a frame for an agent (${field || 'type'}).`, {
      field,
    })
  }
  if (frame.data.type !== 'user.message') return undefined
  const { text } = frame.data.payload
  const bytes = Math.max(utf8Bytes(wellFormedJson(given)) - FRAME_ROOM, utf8Bytes(text))
  const limit = LIMITS.frame_text_bytes
  if (bytes <= limit) return undefined
  return failed('too_large', `The text exceeds ${limit} bytes.`, { limit, actual: bytes })
}
