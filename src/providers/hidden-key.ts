import { isJsonObject } from '../encoding/json.ts'
import { KEY_PLACEHOLDER, SHORTEST_KEY } from '../encoding/redaction.ts'
import type { ErrorCause } from '../model/error-cause.ts'
import { causeOf, withCause, type HawserError } from '../model/errors.ts'

/** So much of a key gives it away; a whole key that is shorter is told apart from no other word, and is no secret. */
const TELLING = SHORTEST_KEY
/** Vendors repeat a key with its middle blotted out. */
const BLOTTED = /^[*•.…]{2,}[\w-]*/

/** An error without the key and without any part of it that tells, wherever in its texts they stand. Pure. */
export function withoutKey(error: HawserError, key: string | undefined): HawserError {
  if (key === undefined || key.length < TELLING) return error
  const { message, details } = error
  const safe = { ...error, message: hideIn(message, key), details: hideInside(details, key) }
  const cause = causeOf(error)
  return cause === undefined
    ? safe
    : withCause({ ok: false, error: safe }, hideInCause(cause, key)).error
}

/** The words of a vendor are in the cause of a call that failed; all others are our own. */
function hideInCause(cause: ErrorCause, key: string): ErrorCause {
  if (cause.type !== 'provider') return cause
  const { code, refusedMedia } = cause
  return {
    ...cause,
    ...(code === undefined ? {} : { code: hideIn(code, key) }),
    ...(refusedMedia?.at === undefined
      ? {}
      : { refusedMedia: { at: hideIn(refusedMedia.at, key) } }),
  }
}

function hide(value: unknown, key: string): unknown {
  if (typeof value === 'string') return hideIn(value, key)
  if (Array.isArray(value)) return value.map((inner) => hide(inner, key))
  return isJsonObject(value) ? hideInside(value, key) : value
}

function hideInside(value: Readonly<Record<string, unknown>>, key: string) {
  const hidden = Object.entries(value).map(([name, inner]) => [name, hide(inner, key)] as const)
  return Object.fromEntries<unknown>(hidden)
}

function hideIn(text: string, key: string): string {
  let shown = ''
  let at = 0
  while (at < text.length) {
    const length = sharedLength(text, at, key)
    if (length < TELLING) {
      shown += text.charAt(at)
      at += 1
    } else {
      at += length
      at += BLOTTED.exec(text.slice(at))?.[0].length ?? 0
      shown += KEY_PLACEHOLDER
    }
  }
  return shown
}

/** How much of the text from here on stands somewhere in the key. */
function sharedLength(text: string, at: number, key: string): number {
  let length = 0
  let from = key.indexOf(text.slice(at, at + TELLING))
  while (from !== -1) {
    let here = TELLING
    while (here < key.length - from && text[at + here] === key[from + here]) here += 1
    length = Math.max(length, Math.min(here, text.length - at))
    from = key.indexOf(text.slice(at, at + TELLING), from + 1)
  }
  return length
}
