import { failed, type Failed } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { AdmitOptions } from './admit-options.ts'

/** Why a message is refused; `hasMore`: it has attachments or views. */
export function unfit(text: string, hasMore: boolean): Failed | undefined {
  if (text.trim() === '' && !hasMore) {
    return failed('invalid_args', 'The message is empty.')
  }
  return over('message', text, LIMITS.user_text_bytes)
}

/** Why what comes with a message is refused: text from standard input, facts of the presenter, and who sent it. */
export function tooMuch(
  piped: string | undefined,
  { presenterContext = {}, presenter = '', channel = '', user }: AdmitOptions,
): Failed | undefined {
  return (
    over('piped text', piped ?? '', LIMITS.piped_text_bytes) ??
    tooMuchContext(presenterContext) ??
    over('presenter name', presenter, LIMITS.sender_bytes) ??
    over('channel', channel, LIMITS.sender_bytes) ??
    over('user', `${user?.id ?? ''}${user?.name ?? ''}`, LIMITS.sender_bytes)
  )
}

function tooMuchContext(facts: Readonly<Record<string, string>>): Failed | undefined {
  const entries = Object.entries(facts)
  const limit = LIMITS.presenter_context_keys
  if (entries.length > limit) {
    const message = `The presenter context has ${entries.length} facts; the limit is ${limit}.`
    return failed('too_large', message, { limit, actual: entries.length })
  }
  const long = entries.find(
    ([, value]) => Buffer.byteLength(value) > LIMITS.presenter_context_value_bytes,
  )
  if (long !== undefined) {
    const [name, value] = long
    return over(`presenter context ${name}`, value, LIMITS.presenter_context_value_bytes)
  }
  return over('presenter context', entries.flat().join(''), LIMITS.presenter_context_bytes)
}

function over(what: string, text: string, limit: number): Failed | undefined {
  const actual = Buffer.byteLength(text)
  if (actual <= limit) return undefined
  const message = `The ${what} has ${actual} bytes; the limit is ${limit}.`
  return failed('too_large', message, { limit, actual })
}
