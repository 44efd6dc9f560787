import { expect, test } from 'vitest'
import { accessTo, postTo, relayPlace } from '../../../test/support/tether/relay-place.ts'
import { until, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import type { Fetch } from '../../host/net/http.ts'
import { RELAY_URL } from '../../model/tether/relay-url.ts'

const MiB = 1024 * 1024
const BODY = '{"model":"model","messages":[]}'

function post(fetch: Fetch, body = BODY, init: RequestInit = {}) {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${RELAY_URL}/v1/messages`, { method: 'POST', headers, body, ...init })
}

/** A provider without a network, whose answers are made by `respond`. */
function madeBy(respond: Fetch) {
  return { ...accessTo('messages', 'http://127.0.0.1:1'), post: postTo(respond) }
}

test('a closed relay has counted every call, so that the next one begins with the right total', async () => {
  let began = 0
  const access = madeBy(async (_url, init) => {
    began += 1
    return new Promise((_resolve, reject) => {
      // Breaking a connection may take a moment.
      const later = () => void setTimeout(() => reject(new Error('aborted')), 50)
      init?.signal?.addEventListener('abort', later)
    })
  })
  const { fetch, relay, spends } = await relayPlace(access)
  const calls = [post(fetch), post(fetch)].map((call) => call.catch(() => {}))
  await until(() => began === 2)
  await relay.close()
  expect(spends.map((spend) => spend.calls)).toEqual([1, 2])
  await relay.close()
  await Promise.all(calls)
})

test('a call that is cancelled late counts the tokens that the provider can have generated', async () => {
  const clock = virtualClock()
  let began = false
  const access = madeBy(async (_url, init) => {
    began = true
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
  })
  const { fetch, spends } = await relayPlace(access, { clock })
  const cancelled = new AbortController()
  const body = '{"model":"model","max_tokens":64000,"stream":false,"messages":[]}'
  const work = post(fetch, body, { signal: cancelled.signal }).catch(() => {})
  await until(() => began)
  clock.advance(60_000)
  cancelled.abort()
  await work
  await until(() => spends.length > 0)
  // 60 s at 250 tokens a second, at $100 per million.
  expect(spends[0]?.usd).toBeGreaterThan(1.4)
})

test('an endless error is cut off', async () => {
  let pulled = 0
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1
        if (pulled > 1_000) controller.error(new Error('read too far'))
        else controller.enqueue(Buffer.alloc(64 * 1024, 120))
      },
    })
  const { fetch } = await relayPlace(madeBy(async () => new Response(endless(), { status: 500 })))
  const answer = await post(fetch)
  expect([answer.status, (await answer.text()).length]).toEqual([500, MiB])
  expect(pulled).toBeLessThan(30)
})

test('a guest whose calls the provider keeps rejecting has to wait, and fills no log', async () => {
  const clock = virtualClock()
  const access = madeBy(async () => new Response('{}', { status: 400 }))
  const { fetch, lines } = await relayPlace(access, { clock })
  for (let at = 0; at < 50; at += 1) expect((await post(fetch)).status).toBe(400)
  let isAnswered = false
  const late = post(fetch).then(({ status }) => {
    isAnswered = true
    return status
  })
  await until(() => isAnswered || clock.pending().length > 0)
  expect([isAnswered, lines.length]).toEqual([false, 50])
  await until(() => {
    clock.advance(250)
    return isAnswered
  })
  expect([await late, lines.length]).toEqual([400, 50])
})
