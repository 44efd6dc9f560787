import { expect, test } from 'vitest'
import { serveHttp } from '../../test/support/host/loopback-server.ts'
import { systemClock } from '../host/clock.ts'
import { CAUSE } from '../model/error-cause.ts'
import type { HawserError } from '../model/errors.ts'
import { boundFetch } from './bound-fetch.ts'
import { CallFailure } from './call-failure.ts'

const KEY = 'sk-canary-0123456789'
const post = { method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body: '{}' }

/** A fetch with a key, as an SDK uses it. */
function fetchOf(baseUrl: string) {
  return boundFetch({ key: KEY, baseUrl, clock: { ...systemClock, now: () => 0 } })
}

async function refusal(work: Promise<unknown>): Promise<HawserError> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  if (!(error instanceof CallFailure)) throw new Error('not refused', { cause: error })
  expect(`${error.message}${JSON.stringify(error.reason)}`).not.toContain(KEY)
  return error.reason
}

test('a successful response is returned unchanged', async () => {
  const { url } = await serveHttp((request, response) => {
    response.end(request.headers.authorization)
  })
  const answer = await fetchOf(`${url}v1`)(`${url}v1/messages`, post)
  expect([answer.status, await answer.text()]).toEqual([200, `Bearer ${KEY}`])
})

test('nothing is sent to another origin: another host, port or protocol', async () => {
  const { url, connections } = await serveHttp((_request, response) => void response.end())
  const { port } = new URL(url)
  const elsewhere = [
    url.replace('127.0.0.1', 'localhost'),
    url.replace('http:', 'https:'),
    `http://127.0.0.1:${port}@example.invalid/`,
    'http://127.0.0.1:1/',
    'file:///etc/passwd',
    'nonsense',
  ]
  const home = fetchOf('https://api.example.invalid')
  for (const address of [url, ...elsewhere]) {
    expect(await refusal(home(address, post))).toMatchObject({
      kind: 'not_configured',
      details: { origin: 'https://api.example.invalid' },
    })
  }
  for (const address of elsewhere) {
    expect((await refusal(fetchOf(url)(address, post))).kind).toBe('not_configured')
  }
  expect(connections.size).toBe(0)
})

test.each([
  'http://api.example.invalid/v1',
  'http://192.168.0.1',
  'http://127.0.0.1.example.invalid',
])('a key is not sent over plain http to another machine: %s', async (place) => {
  expect(await refusal(fetchOf(place)(`${place}/x`, post))).toMatchObject({
    kind: 'not_configured',
    details: { origin: new URL(place).origin },
  })
})

test('an invalid base URL is not used', async () => {
  for (const place of [
    '',
    'api.example.invalid',
    'ftp://example.invalid',
    'http://a:b@127.0.0.1',
  ]) {
    expect((await refusal(fetchOf(place)('http://127.0.0.1/', post))).kind).toBe('not_configured')
  }
})

test.each([301, 302, 303, 307, 308])(
  'a redirect with status %i is not followed, and its target gets no request',
  async (status) => {
    const other = await serveHttp((_request, response) => void response.end())
    const location = `${other.url}steal?secret=1`
    const { url, firstClosed } = await serveHttp((_request, response) => {
      // The body never ends, so reading it to the end would block.
      response.writeHead(status, { location }).write('moved')
    })
    expect(await refusal(fetchOf(url)(url, post))).toMatchObject({
      kind: 'not_configured',
      message: expect.not.stringContaining('secret'),
      details: { status, location_origin: new URL(other.url).origin },
    })
    expect(await firstClosed).toBe('closed')
    expect(other.connections.size).toBe(0)
  },
)

test('a redirect without a location, or to the same server, is not followed either', async () => {
  const places: (string | undefined)[] = [undefined, '/other', 'http://[']
  const { url } = await serveHttp((request, response) => {
    const location = places[Number(request.url?.slice(1))]
    response.writeHead(302, location === undefined ? {} : { location }).end()
  })
  const refusals = await Promise.all(
    places.map((_, at) => refusal(fetchOf(url)(`${url}${at}`, post))),
  )
  expect(refusals.map(({ kind, details }) => [kind, details])).toEqual([
    ['not_configured', { status: 302 }],
    ['not_configured', { status: 302, location_origin: new URL(url).origin }],
    ['not_configured', { status: 302 }],
  ])
})

test('an error status is reported with the facts in its body and headers', async () => {
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(429, {
      'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT',
      'request-id': 'req_7',
      'content-type': 'application/json',
    })
    response.end('{"type":"error","error":{"type":"rate_limit_error","message":"Slower."}}')
  })
  expect(await refusal(fetchOf(url)(url, post))).toEqual({
    kind: 'rate_limited',
    message: 'Slower.',
    details: {
      status: 429,
      type: 'rate_limit_error',
      request_id: 'req_7',
      retry_after_ms: 9_000,
    },
    next_actions: [],
    [CAUSE]: { type: 'provider', status: 429, requestId: 'req_7', retryAfterMs: 9_000 },
  })
})

test('without a key, plain http is allowed to any machine', async () => {
  const { url } = await serveHttp((_request, response) => void response.end('here'))
  // An address of this machine that does not count as local.
  const place = url.replace('127.0.0.1', '0.0.0.0')
  expect((await refusal(fetchOf(place)(place))).kind).toBe('not_configured')
  const fetch = boundFetch({ key: undefined, baseUrl: place, clock: systemClock })
  expect(await (await fetch(place)).text()).toBe('here')
})
