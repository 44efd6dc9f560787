import { failed, type Failed } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'

/** Why a message is refused; `hasMore`: it has attachments or views. */
export function unfit(text: string, hasMore: boolean): Failed | undefined {
  if (text.trim() === '' && !hasMore) {
    return failed('invalid_args', 'The message is empty.')
  }
  return over('message', text, LIMITS.user_text_bytes)
}

export function tooMuchPiped(text = ''): Failed | undefined {
  return over('piped text', text, LIMITS.piped_text_bytes)
}

function over(what: string, text: string, limit: number): Failed | undefined {
  const actual = Buffer.byteLength(text)
  if (actual <= limit) return undefined
  const message = `The ${what} has ${actual} bytes; the limit is ${limit}.`
  return failed('too_large', message, { limit, actual })
}
