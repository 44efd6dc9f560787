import { causeOf, type ErrorKind, type HawserError } from '../model/errors.ts'

/** Failures that may not recur on a retry. Refusals, and failures about money or a key, are not retried. */
const TEMPORARY: ReadonlySet<ErrorKind> = new Set([
  'rate_limited',
  'overloaded',
  'network',
  'stream_idle',
  'invalid_response',
])

const FIRST_MS = 500
const LONGEST_MS = 8_000
/** If the server asks for a longer wait, the call fails with that time instead of waiting. */
const PATIENCE_MS = 5 * 60_000

/** Most invalid responses come from a proxy and do not recur; a server that sends two in a row keeps sending them. */
const INVALID_RETRIES = 1

/**
 * Milliseconds until a failed call is retried; `undefined` if it is not. `attempt` counts from 0, `invalid` is the
 * number of earlier `invalid_response` failures, `chance` returns 0 to 1. The wait that the server asks for is a
 * minimum, and random jitter spreads the retries. Pure.
 */
export function retryIn(
  error: HawserError,
  { attempt, invalid }: { readonly attempt: number; readonly invalid: number },
  { retries, chance }: { readonly retries: number; readonly chance: () => number },
): number | undefined {
  if (attempt >= retries || !TEMPORARY.has(error.kind)) return undefined
  if (error.kind === 'invalid_response' && invalid >= INVALID_RETRIES) return undefined
  const cause = causeOf(error)
  const floor = cause?.type === 'provider' ? (cause.retryAfterMs ?? 0) : 0
  if (floor > PATIENCE_MS) return undefined
  const most = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS)
  const jitter = most * chance()
  return Math.round(Math.max((most + jitter) / 2, floor === 0 ? 0 : floor + jitter / 2))
}
