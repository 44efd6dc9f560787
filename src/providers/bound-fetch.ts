import type { Clock } from '../host/clock.ts'
import { httpFetch, type Fetch } from '../host/net/http.ts'
import { baseUrl, isHttpsOrLocal } from '../model/base-url.ts'
import { failed, type Failed } from '../model/errors.ts'
import { CallFailure } from './call-failure.ts'
import { vendorError } from './vendor-error.ts'
import { failureOfResponse } from './vendor-failure.ts'

export interface Binding {
  readonly key: string | undefined
  readonly baseUrl: string
  readonly clock: Clock
  /** `httpFetch` by default. */
  readonly fetch?: Fetch | undefined
}

/**
 * The `fetch` of a vendor's SDK. A key belongs to the origin of the base URL: nothing is sent to another origin, no key is sent
 * over plain http to another machine, and redirects are not followed. Resolves only with a 2xx response. Throws a
 * `CallFailure` for a refused request and for every other status, and what `fetch` throws for a failed connection.
 */
export function boundFetch({ key, baseUrl: place, clock, fetch }: Binding): Fetch {
  const send = fetch ?? httpFetch({ clock })
  return async (input, init) => {
    const refusal = refusalOf(input, place, key)
    if (refusal !== undefined) throw new CallFailure(refusal.error)
    const answer = await send(input, init)
    if (answer.ok) return answer
    if (answer.status < 400) {
      await answer.body?.cancel()
      throw new CallFailure(redirectError(answer, place).error)
    }
    throw new CallFailure(vendorError(failureOfResponse(answer, await answer.text(), clock.now())))
  }
}

/** Messages name origins only: a full URL may contain a secret. */
function refusalOf(
  input: Parameters<Fetch>[0],
  place: string,
  key: string | undefined,
): Failed | undefined {
  const home = baseUrl(place)
  if (home === undefined) {
    return failed(
      'not_configured',
      'The base URL of the provider is not an http or https URL.',
      {},
      [
        {
          action: 'Set a valid base URL.',
          command: 'hawser config set providers.NAME.base_url URL',
        },
      ],
    )
  }
  const address = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
  const origin = urlOrigin(address)
  if (origin !== home.origin) {
    const why = `Request not sent: this provider is configured for ${home.origin}, but the request is for ${origin ?? 'an invalid URL'}.`
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
  if (home === undefined || key === undefined || isHttpsOrLocal(home)) return undefined
  const why = `Request not sent: ${home.origin} is plain http on another machine, so the key could be intercepted.`
  const next = [{ action: 'Use https in the base URL of the provider.' }]
  return failed('not_configured', why, { origin: home.origin }, next)
}

function redirectError({ status, headers }: Response, place: string): Failed {
  const location = headers.get('location')
  const origin = location === null ? undefined : urlOrigin(location, place)
  const where = origin === undefined ? '' : ` to ${origin}`
  const why = `The provider returned a redirect${where} (status ${status}). Redirects are not followed, because a key belongs to one origin.`
  const next = [{ action: 'Check the base URL of the provider.' }]
  const details = origin === undefined ? { status } : { status, location_origin: origin }
  // The kind must be one that is not retried: a retry would get the same redirect.
  return failed('not_configured', why, details, next)
}

function urlOrigin(address: string, base?: string): string | undefined {
  return URL.canParse(address, base) ? new URL(address, base).origin : undefined
}
