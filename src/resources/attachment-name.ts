import { overLimit, refusal, type Refusal } from './refusal.ts'

const NAME_BYTES = 255
const PATH_BYTES = 4096
const SHOWN_LETTERS = 100

/** Characters that move the cursor, change the reading direction, break a line, or are not assigned. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** The last segment of a path; empty if there is none. */
export function lastName(path: string): string {
  return (
    path
      .slice(-2 * PATH_BYTES)
      .split('/')
      .findLast((name) => name !== '') ?? ''
  )
}

/** Why a path is refused for its text alone. */
export function nameOffence(path: string): Refusal | undefined {
  const name = lastName(path)
  const nameBytes = Buffer.byteLength(name)
  if (nameBytes > NAME_BYTES) return nameTooLong('its name', nameBytes, NAME_BYTES)
  const bytes = Buffer.byteLength(path)
  if (bytes > PATH_BYTES) return nameTooLong('its path', bytes, PATH_BYTES)
  if (path.includes('\0')) return refusal('invalid_name', 'its name contains a NUL character')
  if (UNSEEN.test(name))
    return refusal('invalid_name', 'its name contains control or text-direction characters')
  return undefined
}

/** The extension with its dot, as written; empty if there is none. The name of a hidden file is not an extension. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot) : ''
}

/** A name made safe for a Log and a model. */
export function shownName(name: string): string {
  // Escaping can turn one character into ten.
  const letters = Array.from(escapeUnseen(name.slice(0, 2 * SHOWN_LETTERS)))
  const whole = letters.length <= SHOWN_LETTERS && name.length <= 2 * SHOWN_LETTERS
  return whole ? letters.join('') : `${letters.slice(0, SHOWN_LETTERS - 1).join('')}…`
}

/** Text from outside with characters that change how the rest is displayed escaped. */
export function escapeUnseen(text: string): string {
  return text.replaceAll(new RegExp(UNSEEN, 'gu'), (letter) => {
    return `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`
  })
}

function nameTooLong(what: string, actual: number, limit: number): Refusal {
  const reason = `${what} is ${actual} bytes long, which exceeds the limit of ${limit}`
  return overLimit('invalid_name', reason, { limit, actual })
}
