import { connect } from 'node:http2'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { CANARY_KEY, CANARY_PARTS } from '../../../test/support/host/canary.ts'
import { serveHttp } from '../../../test/support/host/loopback-server.ts'
import { accessTo, postTo, relayPlace } from '../../../test/support/tether/relay-place.ts'
import { until, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { isJsonObject } from '../../encoding/json.ts'
import type { Fetch } from '../../host/net/http.ts'
import { RELAY_URL } from '../../model/tether/relay-url.ts'
import { NO_SPEND } from './rules.ts'

const MiB = 1024 * 1024
const URL_OF_MESSAGES = `${RELAY_URL}/v1/messages`
const JSON_HEADERS = { 'content-type': 'application/json' }
const BODY = '{"model":"model","messages":[]}'
const USAGE = '{"usage":{"input_tokens":100000,"output_tokens":10000}}'

function post(fetch: Fetch, body: string | Uint8Array<ArrayBuffer> = BODY, init: RequestInit = {}) {
  return fetch(URL_OF_MESSAGES, { method: 'POST', headers: JSON_HEADERS, body, ...init })
}

/** The status, and the code and message of the error. */
async function refusalOf(work: Promise<Response>): Promise<unknown> {
  const answer = await work
  const body: unknown = await answer.json()
  const error = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : {}
  return { status: answer.status, ...error }
}

/** A provider without a network, whose answers are made by `respond`. */
function madeBy(respond: Fetch) {
  return { ...accessTo('messages', 'http://127.0.0.1:1'), post: postTo(respond) }
}

test('a call reaches the provider with the key, and its answer the guest with the listed headers only', async () => {
  const seen: unknown[] = []
  const { url } = await serveHttp((request, response) => {
    const { method, url: path, headers } = request
    seen.push({ method, path, headers })
    request.resume().once('end', () => {
      response.setHeader('request-id', `req-${CANARY_KEY}`)
      response.setHeader('set-cookie', 'a=b')
      response.writeHead(200, { 'content-type': 'application/json' }).end(USAGE)
    })
  })
  const { fetch } = await relayPlace(accessTo('messages', `${url}gateway`))
  const forged = {
    ...JSON_HEADERS,
    authorization: 'Bearer other',
    'x-api-key': 'other',
    host: 'example.invalid',
    forwarded: 'for=1.2.3.4',
    'x-forwarded-for': '1.2.3.4',
    'anthropic-beta': 'some-feature',
    'anthropic-version': '2000-01-01',
    cookie: 'a=b',
    'user-agent': 'guest',
  }
  const answer = await post(fetch, BODY, { headers: forged })
  expect([answer.status, Object.fromEntries(answer.headers), await answer.text()]).toEqual([
    200,
    {
      'content-type': 'application/json',
      'request-id': 'req-[redacted key]',
      // Of the relay itself.
      date: expect.any(String),
    },
    USAGE,
  ])
  expect(seen).toEqual([
    {
      method: 'POST',
      path: '/gateway/v1/messages',
      headers: {
        accept: 'text/event-stream',
        'accept-encoding': 'identity',
        'anthropic-version': expect.stringMatching(/^20[2-9]\d-/),
        authorization: `Bearer ${CANARY_KEY}`,
        connection: 'keep-alive',
        'content-length': String(BODY.length),
        'content-type': 'application/json',
        host: new URL(url).host,
        'user-agent': 'hawser',
      },
    },
  ])
})

test('the key is removed from errors and answers, in whole and in part', async () => {
  const echo = {
    error: { message: `Wrong key ${CANARY_KEY.slice(0, 14)}****, sent ${CANARY_KEY}` },
  }
  const answers = [
    new Response(JSON.stringify(echo), { status: 401 }),
    new Response(`plain ${CANARY_KEY}`, { status: 500, headers: { 'x-request-id': CANARY_KEY } }),
    new Response(`{"error":"${CANARY_KEY.replaceAll('-', '\\u002d')}"}`, { status: 400 }),
    new Response(`data: ${CANARY_KEY}\n\n`, { headers: { 'content-type': 'text/event-stream' } }),
  ]
  const statuses = answers.map(({ status }) => status)
  const { fetch, lines } = await relayPlace(madeBy(async () => answers.shift() ?? Response.error()))
  for (const status of statuses) {
    const answer = await post(fetch)
    const received = `${[...answer.headers].join()} ${await answer.text()}`
    expect([answer.status, CANARY_PARTS.filter((part) => received.includes(part))]).toEqual([
      status,
      [],
    ])
  }
  expect(lines.join()).not.toContain(CANARY_KEY)
})

test.each([
  ['a redirect', new Response(null, { status: 307, headers: { location: 'http://evil' } }), 403],
  ['an encoded answer', new Response('x', { headers: { 'content-encoding': 'gzip' } }), 502],
])('%s is not passed on', async (_name, answer, status) => {
  const { fetch, spends } = await relayPlace(madeBy(async () => answer))
  expect(await refusalOf(post(fetch))).toMatchObject({ status })
  expect(spends).toEqual([])
})

test('a provider that cannot be reached is reported with its origin only', async () => {
  const { fetch, spends } = await relayPlace(accessTo('messages', 'http://127.0.0.1:1/secret-path'))
  expect(await refusalOf(post(fetch))).toMatchObject({
    status: 502,
    code: 'relay_unreachable',
    message: 'The connection to the provider failed (http://127.0.0.1:1, ECONNREFUSED).',
  })
  expect(spends).toEqual([])
})

test('an answer that the provider cuts off is cut off for the guest, and its cost is estimated', async () => {
  const { url } = await serveHttp((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('x'.repeat(4000), () => response.destroy())
  })
  // Time also counts, and here it does not advance.
  const clock = virtualClock()
  const { fetch, spends } = await relayPlace(accessTo('messages', url.slice(0, -1)), { clock })
  const answer = await post(fetch)
  await expect(answer.text()).rejects.toMatchObject({ name: 'HttpFailure', code: 'ECONNRESET' })
  // 31 bytes of request, 4000 of answer, 4 bytes per token.
  const usd = (8 * 10 + 1000 * 100) / 1e6
  expect(spends).toEqual([{ calls: 1, usd, estimatedUsd: usd, unpricedCalls: 0 }])
})

test('a cancelled call is cancelled at the provider, and its cost is estimated', async () => {
  const { url, firstClosed } = await serveHttp((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': wait\n\n')
  })
  const { fetch, spends } = await relayPlace(accessTo('messages', url.slice(0, -1)))
  const controller = new AbortController()
  const answer = await post(fetch, BODY, { signal: controller.signal })
  controller.abort()
  await expect(answer.text()).rejects.toMatchObject({ name: 'AbortError' })
  await firstClosed
  await until(() => spends.length > 0)
  expect(spends[0]).toMatchObject({ calls: 1, usd: spends[0]?.estimatedUsd })
})

test('a call that is cancelled before its answer is cancelled at the provider', async () => {
  const { url, connections, firstClosed } = await serveHttp((request) => void request.resume())
  const { fetch, spends } = await relayPlace(accessTo('messages', url.slice(0, -1)))
  const controller = new AbortController()
  const work = post(fetch, BODY, { signal: controller.signal })
  await until(() => connections.size > 0)
  controller.abort()
  await expect(work).rejects.toMatchObject({ name: 'AbortError' })
  await firstClosed
  await until(() => spends.length > 0)
  expect(spends[0]?.estimatedUsd).toBeGreaterThan(0)
})

test('what was spent is counted from the answer, and calls are refused from the ceiling on', async () => {
  let calls = 0
  const access = madeBy(async () => {
    calls += 1
    return new Response(USAGE, { headers: JSON_HEADERS })
  })
  const spentBefore = { ...NO_SPEND, calls: 7, usd: 0.5 }
  const { fetch, spends, relay } = await relayPlace(access, { spentBefore, ceilingUsd: 3.5 })
  await (await post(fetch)).text()
  await (await post(fetch)).text()
  expect(spends.map(({ usd }) => usd)).toEqual([2.5, 4.5])
  expect(await refusalOf(post(fetch))).toEqual({
    status: 402,
    type: 'relay_ceiling',
    code: 'relay_ceiling',
    message: 'This instance has spent $4.50; its spending limit is $3.50.',
  })
  expect([calls, relay.spend]).toEqual([2, spends.at(-1)])
})

test('a call without a price is counted as such, and refused if there is a ceiling', async () => {
  const answer = async () => new Response(USAGE, { headers: JSON_HEADERS })
  const access = { ...accessTo('messages', 'http://127.0.0.1:1', {}), post: postTo(answer) }
  const open = await relayPlace(access)
  await (await post(open.fetch)).text()
  expect(open.spends).toEqual([{ calls: 1, usd: 0, estimatedUsd: 0, unpricedCalls: 1 }])
  const limited = await relayPlace(access, { ceilingUsd: 1 })
  expect(await refusalOf(post(limited.fetch))).toMatchObject({ code: 'relay_refused' })
})

test('eight calls run at once, and one whose answer is not read holds up no other', async () => {
  const { url } = await serveHttp((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('x'.repeat(MiB))
    })
  })
  const { fetch } = await relayPlace(accessTo('messages', url.slice(0, -1)))
  const stalled = await post(fetch)
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(fetch)))
  const lengths = await Promise.all(answers.map(async (answer) => (await answer.text()).length))
  expect(lengths).toEqual(Array.from({ length: 8 }, () => MiB))
  expect((await stalled.text()).length).toBe(MiB)
})

test('at most 4 MB wait for a guest that reads nothing, and nothing is lost', async () => {
  const CALLS = 32
  const PIECE = Buffer.alloc(16 * 1024, 'x')
  const EACH = 64
  let pulled = 0
  const access = madeBy(async () => {
    let left = EACH
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (left === 0) return controller.close()
          left -= 1
          pulled += PIECE.length
          controller.enqueue(PIECE)
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  const { fetch } = await relayPlace(access)
  const answers = await Promise.all(Array.from({ length: CALLS }, () => post(fetch)))
  let before = -1
  while (before !== pulled) {
    before = pulled
    await new Promise((resolve) => void setTimeout(resolve, 50))
  }
  // What the streams of the guest take before they are read has arrived: 64 KiB each.
  const arrived = CALLS * 64 * 1024
  expect(pulled - arrived).toBeLessThanOrEqual(4_000_000)
  const lengths = await Promise.all(answers.map(async (answer) => (await answer.text()).length))
  expect(new Set(lengths)).toEqual(new Set([EACH * PIECE.length]))
})

test('the call after 32 running ones is refused with an answer', async () => {
  let began = 0
  const access = madeBy(async (_url, init) => {
    began += 1
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
  })
  const { fetch } = await relayPlace(access)
  const controller = new AbortController()
  const running = Array.from({ length: 32 }, () => post(fetch, BODY, { signal: controller.signal }))
  await until(() => began === 32)
  expect(await refusalOf(post(fetch))).toMatchObject({ status: 429, code: 'relay_busy' })
  controller.abort()
  const outcomes = await Promise.allSettled(running)
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
})

test('a body of 64 MiB is sent, and one byte more is refused', async () => {
  let received = 0
  const access = madeBy(async (_url, init) => {
    if (init?.body instanceof Uint8Array) received = init.body.length
    return new Response(USAGE, { headers: JSON_HEADERS })
  })
  const { fetch } = await relayPlace(access)
  const [head, tail] = ['{"model":"model","system":"', '"}']
  const bodyOf = (length: number) =>
    Buffer.concat([
      Buffer.from(head),
      Buffer.alloc(length - head.length - tail.length, 'x'),
      Buffer.from(tail),
    ])
  expect((await post(fetch, bodyOf(64 * MiB))).status).toBe(200)
  expect(received).toBe(64 * MiB)
  const work = post(fetch, bodyOf(64 * MiB + 1))
  expect(await refusalOf(work)).toMatchObject({ status: 413, code: 'relay_too_large' })
  expect(await refusalOf(post(fetch, ''))).toMatchObject({ status: 403, code: 'relay_refused' })
})

/** A call whose body the test writes, and the status of its answer. */
function openCall(socket: Socket) {
  const session = connect(RELAY_URL, { createConnection: () => socket })
  onTestFinished(() => session.destroy())
  const stream = session.request({
    ':method': 'POST',
    ':path': '/v1/messages',
    ':authority': 'relay',
    'content-type': 'application/json',
  })
  const status = new Promise((resolve) => {
    stream.once('response', (headers) => resolve(headers[':status']))
  })
  return { stream, status }
}

test('a body that stops arriving is given up', async () => {
  const clock = virtualClock()
  const { socket } = await relayPlace(
    madeBy(async () => Response.error()),
    { clock },
  )
  const { stream, status } = openCall(socket)
  stream.write('{"model":')
  await until(() => clock.set === 3)
  clock.advance(29_000)
  stream.write('"model"')
  await until(() => clock.set === 4)
  clock.advance(30_000)
  expect([await status, clock.pending()]).toEqual([408, []])
})

test('a body that arrives slowly for too long is given up', async () => {
  const clock = virtualClock()
  const { socket } = await relayPlace(
    madeBy(async () => Response.error()),
    { clock },
  )
  const { stream, status } = openCall(socket)
  for (let round = 0; round < 15; round += 1) {
    stream.write(' ')
    await until(() => clock.set === round + 3)
    clock.advance(20_000)
  }
  expect([await status, clock.pending()]).toEqual([408, []])
})

test('everything ends with the connection', async () => {
  let began = false
  let ended = false
  const access = madeBy(async (_url, init) => {
    began = true
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => {
        ended = true
        reject(new Error('aborted'))
      })
    })
  })
  const { fetch, relay } = await relayPlace(access)
  const work = post(fetch)
  await until(() => began)
  await relay.close()
  await expect(work).rejects.toMatchObject({ name: 'HttpFailure', code: 'ECONNRESET' })
  expect(await relay.closed).toBeUndefined()
  await until(() => ended)
  await expect(post(fetch)).rejects.toMatchObject({ name: 'HttpFailure' })
})
