import { causeOf, type HawserError } from '../model/errors.ts'

/** How the codes begin with which the relay of a guest answers itself. */
const RELAY_CODES = 'relay_'

/**
 * An error that a provider returned, with what a person needs to report it: the provider, the status and the id of the
 * request. Any other error is returned as it is. Pure.
 */
export function fromProvider(error: HawserError, provider: string | undefined): HawserError {
  const cause = causeOf(error)
  if (cause?.type !== 'provider' || provider === undefined) return error
  const { status, requestId, code } = cause
  // Neither the sentence nor the status is that of a provider.
  if (code?.startsWith(RELAY_CODES) === true) return error
  if (status === undefined && requestId === undefined) return error
  const facts = [
    provider,
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ]
  const message = `${error.message} (${facts.join(', ')})`
  return { ...error, message, details: { ...error.details, provider } }
}
