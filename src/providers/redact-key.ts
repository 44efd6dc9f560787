import { hideKey } from '../encoding/hidden-key.ts'
import { SHORTEST_KEY } from '../encoding/redaction.ts'
import type { ErrorCause } from '../model/error-cause.ts'
import { causeOf, withCause, type HawserError } from '../model/errors.ts'

/** The error with the key, and every recognizable part of it, replaced in all its texts. Pure. */
export function redactKey(error: HawserError, key: string | undefined): HawserError {
  if (key === undefined || key.length < SHORTEST_KEY) return error
  const { message, details } = error
  const safe = { ...error, message: hideKey(message, key), details: hideKey(details, key) }
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
    ...(code === undefined ? {} : { code: hideKey(code, key) }),
    ...(refusedMedia?.at === undefined
      ? {}
      : { refusedMedia: { at: hideKey(refusedMedia.at, key) } }),
  }
}
