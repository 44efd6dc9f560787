import { overLimit, refusal, type Refusal } from './refusal.ts'

const NAME_BYTES = 255
const PATH_BYTES = 4096
const SHOWN_LETTERS = 100

/** Moves a cursor, turns the reading direction, breaks a line, or is no character. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** The name that a path ends in; empty when it ends in none. */
export function lastName(path: string): string {
  return (
    path
      .slice(-2 * PATH_BYTES)
      .split('/')
      .findLast((name) => name !== '') ?? ''
  )
}

/** What is wrong with a path by its words alone. */
export function nameOffence(path: string): Refusal | undefined {
  const name = lastName(path)
  const nameBytes = Buffer.byteLength(name)
  if (nameBytes > NAME_BYTES) return tooLong('its name', nameBytes, NAME_BYTES)
  const bytes = Buffer.byteLength(path)
  if (bytes > PATH_BYTES) return tooLong('its path', bytes, PATH_BYTES)
  if (path.includes('\0')) return refusal('invalid_name', 'its name has a NUL in it')
  if (UNSEEN.test(name))
    return refusal('invalid_name', 'its name has characters in it that control how text is shown')
  return undefined
}

/** With its dot, as it is spelt; empty when there is none. The name of a hidden file is no extension. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot) : ''
}

/** A name as it may stand in a Log and before a model, whatever is in it. */
export function shownName(name: string): string {
  // Every letter may become ten.
  const letters = Array.from(escaped(name.slice(0, 2 * SHOWN_LETTERS)))
  const whole = letters.length <= SHOWN_LETTERS && name.length <= 2 * SHOWN_LETTERS
  return whole ? letters.join('') : `${letters.slice(0, SHOWN_LETTERS - 1).join('')}…`
}

/** Text from outside with everything spelt out in it that changes how the rest is seen. */
export function escaped(text: string): string {
  return text.replaceAll(new RegExp(UNSEEN, 'gu'), (letter) => {
    return `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`
  })
}

function tooLong(what: string, actual: number, limit: number): Refusal {
  const reason = `${what} has ${actual} bytes, over the limit of ${limit}`
  return overLimit('invalid_name', reason, { limit, actual })
}
