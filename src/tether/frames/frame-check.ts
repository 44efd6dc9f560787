import { wellFormedJson } from '../../encoding/json.ts'
import { failed, type Failed } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import { FrameToGuest } from '../../model/tether/frame.ts'

/** Why a frame must not be sent to any guest. */
export function unfitFrame(given: object): Failed | undefined {
  const frame = FrameToGuest.safeParse(given)
  if (!frame.success) {
    const field = frame.error.issues[0]?.path.join('.') ?? ''
    const message = `This is not a frame for an agent (${field || 'type'}).`
    return failed('invalid_args', message, { field })
  }
  if (frame.data.type !== 'user.message') return undefined
  const { text } = frame.data.payload
  const limit = LIMITS.frame_text_bytes
  // The frame as a whole is limited too, and escapes make its text longer.
  const actual = Math.max(utf8Bytes(wellFormedJson(given)) - OTHER_BYTES, utf8Bytes(text))
  if (actual <= limit) return undefined
  return failed('too_large', `The text exceeds ${limit} bytes.`, { limit, actual })
}

/** Everything in a frame but its text. */
const OTHER_BYTES = LIMITS.frame_bytes - LIMITS.frame_text_bytes

/** A message with images needs a workspace to read them from. */
export function noImages(): Failed {
  return failed('images_require_workspace', 'images require workspace mapping', {}, [
    {
      action: 'Create an Instance with a workspace.',
      command: 'hawser instance create NAME --workspace own',
    },
  ])
}
