import { isJsonObject } from '../encoding/json.ts'
import { KEY_PLACEHOLDER, SHORTEST_KEY } from '../encoding/redaction.ts'
import type { ErrorCause } from '../model/error-cause.ts'
import { causeOf, withCause, type HawserError } from '../model/errors.ts'

/** The shortest part of a key that is hidden. Shorter keys cannot be told apart from ordinary words and are not hidden. */
const SHORTEST_PART = SHORTEST_KEY
/** Vendors repeat a key with its middle masked. */
const MASKED = /^[*•.…]{2,}[\w-]*/

/** The error with the key, and every recognizable part of it, replaced in all its texts. Pure. */
export function redactKey(error: HawserError, key: string | undefined): HawserError {
  if (key === undefined || key.length < SHORTEST_PART) return error
  const { message, details } = error
  const safe = { ...error, message: hideIn(message, key), details: hideInside(details, key) }
  const cause = causeOf(error)
  return cause === undefined
    ? safe
    : withCause({ ok: false, error: safe }, hideInCause(cause, key)).error
}

/** Only the cause of a failed call contains text of a vendor. */
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
    if (length < SHORTEST_PART) {
      shown += text.charAt(at)
      at += 1
    } else {
      at += length
      at += MASKED.exec(text.slice(at))?.[0].length ?? 0
      shown += KEY_PLACEHOLDER
    }
  }
  return shown
}

/** The length of the text at `at` that also occurs in the key. */
function sharedLength(text: string, at: number, key: string): number {
  let length = 0
  let from = key.indexOf(text.slice(at, at + SHORTEST_PART))
  while (from !== -1) {
    let same = SHORTEST_PART
    while (same < key.length - from && text[at + same] === key[from + same]) same += 1
    length = Math.max(length, Math.min(same, text.length - at))
    from = key.indexOf(text.slice(at, at + SHORTEST_PART), from + 1)
  }
  return length
}
