import { causeOf, type ErrorKind, type HawserError } from '../model/errors.ts'

/** Failures that another try may not meet. What was refused, and what costs money or a key, is not tried again. */
const PASSING: ReadonlySet<ErrorKind> = new Set([
  'rate_limited',
  'overloaded',
  'network',
  'stream_idle',
  'invalid_response',
])

const FIRST_MS = 500
const LONGEST_MS = 8_000
/** Whoever is told to wait longer wants to be told so, not to wait. */
const PATIENCE_MS = 5 * 60_000

/** Most are a proxy's and pass at once; a server that sends two in a row sends nothing else. */
const INVALID_RETRIES = 1

/**
 * Milliseconds until a failed call is made again; `undefined` when it is not. `attempt` counts from 0, `invalid` is how many
 * `invalid_response` failures came before, `chance` gives 0 to 1. What the server asks for is a floor, and nobody comes back at the same moment as everyone else. Pure.
 */
export function retryIn(
  error: HawserError,
  { attempt, invalid }: { readonly attempt: number; readonly invalid: number },
  { retries, chance }: { readonly retries: number; readonly chance: () => number },
): number | undefined {
  if (attempt >= retries || !PASSING.has(error.kind)) return undefined
  if (error.kind === 'invalid_response' && invalid >= INVALID_RETRIES) return undefined
  const cause = causeOf(error)
  const floor = cause?.type === 'provider' ? (cause.retryAfterMs ?? 0) : 0
  if (floor > PATIENCE_MS) return undefined
  const most = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS)
  const jitter = most * chance()
  return Math.round(Math.max((most + jitter) / 2, floor === 0 ? 0 : floor + jitter / 2))
}
