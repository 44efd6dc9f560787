import type { Clock } from '../host/clock.ts'
import { httpFetch, type Fetch } from '../host/net/http.ts'
import { baseUrl, isSealedOrHere } from '../model/base-url.ts'
import { failed, type Failed } from '../model/errors.ts'
import { CallFailure } from './call-failure.ts'
import { vendorError } from './vendor-error.ts'
import { saidBy } from './vendor-message.ts'

export interface Binding {
  readonly key: string | undefined
  readonly baseUrl: string
  readonly clock: Clock
}

/**
 * The `fetch` of a vendor's SDK. A key belongs to the origin of the base URL: nothing is sent to another one, nor a key over
 * plain http to another machine, and redirects are not followed. Resolves with a 2xx and nothing else. What else is said,
 * here or by the server, is thrown as a `CallFailure`; of the connection's failures it throws what `httpFetch` does.
 */
export function boundFetch({ key, baseUrl: place, clock }: Binding): Fetch {
  const send = httpFetch({ clock })
  return async (input, init) => {
    const refusal = refusalOf(input, place, key)
    if (refusal !== undefined) throw new CallFailure(refusal.error)
    const answer = await send(input, init)
    if (answer.ok) return answer
    if (answer.status < 400) {
      await answer.body?.cancel()
      throw new CallFailure(redirected(answer, place).error)
    }
    throw new CallFailure(vendorError(saidBy(answer, await answer.text(), clock.now())))
  }
}

/** No address is repeated in full: it may hold what is nobody's business. */
function refusalOf(
  input: Parameters<Fetch>[0],
  place: string,
  key: string | undefined,
): Failed | undefined {
  const home = baseUrl(place)
  if (home === undefined) {
    return failed('not_configured', 'The base URL of the provider must be an http or https URL.')
  }
  const address = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
  const origin = originOf(address)
  if (origin !== home.origin) {
    const why = `Requests to this provider go to ${home.origin} only; this one was not sent.`
    return failed('not_configured', why, {
      origin: home.origin,
      refused_origin: origin ?? 'none',
    })
  }
  return placeRefusal({ baseUrl: place, key })
}

/** A key goes over plain http to this machine only. */
export function placeRefusal({
  baseUrl: place,
  key,
}: Pick<Binding, 'key' | 'baseUrl'>): Failed | undefined {
  const home = baseUrl(place)
  if (home === undefined || key === undefined || isSealedOrHere(home)) return undefined
  const why = `${home.origin} is plain http to another machine: everybody on the way could read the key.`
  const next = [{ action: 'Use https in the base URL of the provider.' }]
  return failed('not_configured', why, { origin: home.origin }, next)
}

function redirected({ status, headers }: Response, place: string): Failed {
  const location = headers.get('location')
  const origin = location === null ? undefined : originOf(location, place)
  const where = origin === undefined ? '' : ` to ${origin}`
  const why = `The provider answered with a redirect${where}. Redirects are not followed: a key belongs to one place.`
  const next = [{ action: 'Check the base URL of the provider.' }]
  const details = origin === undefined ? { status } : { status, location_origin: origin }
  // Another try would meet it again, so this is a kind that is not tried again.
  return failed('not_configured', why, details, next)
}

function originOf(address: string, base?: string): string | undefined {
  return URL.canParse(address, base) ? new URL(address, base).origin : undefined
}
