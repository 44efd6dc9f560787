import { Anthropic } from '@anthropic-ai/sdk'
import { OpenAI } from 'openai'
import { describe, expect, test } from 'vitest'
import { serveBytes, serveHttp } from '../../test/support/host/loopback-server.ts'
import {
  all,
  BODY,
  callWith,
  DONE,
  END,
  failure,
  HEAD,
  KEY,
  textDeltas,
  serveEvents,
} from '../../test/support/providers/scripted-call.ts'
import { virtualClock } from '../../test/support/host/virtual-clock.ts'
import { systemClock, type Clock } from '../host/clock.ts'
import { CAUSE } from '../model/error-cause.ts'
import { boundFetch } from './bound-fetch.ts'
import { failureOf } from './call-failure.ts'
import type { Send } from './call.ts'

/** The configuration of both SDKs: they ignore the environment and do not retry. */
function settings(baseURL: string, clock: Clock = systemClock) {
  const fetch = boundFetch({ key: KEY, baseUrl: baseURL, clock })
  return { apiKey: KEY, baseURL, fetch, maxRetries: 0, logLevel: 'off' } as const
}

const SDKS: readonly (readonly [string, (url: string, clock?: Clock) => Send])[] = [
  [
    'Anthropic',
    (url, clock) => {
      const client = new Anthropic({ ...settings(url, clock), authToken: null })
      return (body, signal) => client.post('/v1/messages', { body, signal }).asResponse()
    },
  ],
  [
    'OpenAI',
    (url, clock) => {
      const client = new OpenAI({ ...settings(url, clock), organization: null, project: null })
      return (body, signal) => client.post('/responses', { body, signal }).asResponse()
    },
  ],
]

describe.each(SDKS)('through the SDK of %s', (_name, sendTo) => {
  function answer(url: string, signal = new AbortController().signal) {
    return all(callWith(sendTo(url))(BODY, signal))
  }

  test('a body arrives byte for byte, and the answer is read by our reader', async () => {
    const bodies: Buffer[] = []
    const { url } = await serveHttp((request, response) => {
      request.on('data', (chunk: Buffer) => void bodies.push(chunk))
      request.on('end', () => response.writeHead(200, HEAD).end(`data: ab\n\n${END}`))
    })
    expect(await answer(url)).toEqual([...textDeltas('ab'), DONE])
    expect(Buffer.concat(bodies)).toEqual(BODY)
  })

  test('an error status is reported once, with the facts from the vendor', async () => {
    let requests = 0
    const { url } = await serveHttp((_request, response) => {
      requests += 1
      response.writeHead(529, { 'retry-after': '2', 'x-request-id': 'req_1' })
      response.end(`{"error":{"type":"overloaded_error","message":"Not now, ${KEY}."}}`)
    })
    const details = {
      status: 529,
      type: 'overloaded_error',
      request_id: 'req_1',
      retry_after_ms: 2_000,
    }
    expect(await answer(url)).toEqual([
      {
        type: 'error',
        error: {
          kind: 'overloaded',
          message: 'Not now, [redacted key].',
          details,
          next_actions: [],
          [CAUSE]: { type: 'provider', status: 529, requestId: 'req_1', retryAfterMs: 2_000 },
        },
      },
    ])
    expect(requests).toBe(1)
  })

  test('a redirect is refused, and its target gets no request', async () => {
    const other = await serveEvents(END)
    const { url } = await serveHttp((_request, response) => {
      response.writeHead(307, { location: other.url }).end()
    })
    const details = { status: 307, location_origin: new URL(other.url).origin }
    expect(await answer(url)).toEqual([failure('not_configured', details)])
    expect(other.connections.size).toBe(0)
  })

  test('a connection that fails or breaks is reported with its code', async () => {
    const gone = await serveHttp(() => {})
    gone.stop()
    const broken = await serveBytes('', (socket) => socket.resetAndDestroy())
    expect([await answer(gone.url), await answer(broken.url)]).toEqual([
      [failure('network', expect.objectContaining({ code: 'ECONNREFUSED' }))],
      [failure('network', expect.objectContaining({ code: 'ECONNRESET' }))],
    ])
  })

  test('a connection that times out is reported with its code', async () => {
    const clock = virtualClock()
    const { url } = await serveBytes('', () => clock.advance(30_000))
    // The server waits for a request, so it does not answer the TLS handshake.
    const sealed = url.replace('http:', 'https:')
    expect(await all(callWith(sendTo(sealed, clock))(BODY, new AbortController().signal))).toEqual([
      failure('network', expect.objectContaining({ code: 'ETIMEDOUT' })),
    ])
  })

  test('an interruption closes the connection, before and during the answer', async () => {
    const waiting = new AbortController()
    const silent = await serveHttp(() => waiting.abort())
    expect(await answer(silent.url, waiting.signal)).toEqual([failure('interrupted', {})])
    expect(await silent.firstClosed).toBe('closed')
    const reading = new AbortController()
    const speaking = await serveEvents('data: a\n\n')
    for await (const event of callWith(sendTo(speaking.url))(BODY, reading.signal)) {
      if (event.type === 'text_delta') reading.abort()
      else expect(event).toEqual(failure('interrupted', {}))
    }
    expect(await speaking.firstClosed).toBe('closed')
  })
})

test('an error that an SDK itself throws for an error status is understood too', () => {
  const headers = new Headers({ 'request-id': 'req_1', 'x-request-id': 'req_1' })
  const error = { type: 'authentication_error', message: 'No.' }
  const thrown = [
    Anthropic.APIError.generate(401, { type: 'error', error }, undefined, headers),
    OpenAI.APIError.generate(401, { error }, undefined, headers),
  ]
  for (const one of thrown) {
    expect(failureOf(one, 'http://127.0.0.1')).toMatchObject({
      kind: 'auth',
      message: 'No.',
      details: { status: 401, type: 'authentication_error', request_id: 'req_1' },
    })
  }
  for (const one of [new Anthropic.APIConnectionTimeoutError(), new OpenAI.APIUserAbortError()]) {
    expect(failureOf(one, 'http://127.0.0.1')).toMatchObject({
      kind: 'network',
      details: { code: 'ECONNABORTED', origin: 'http://127.0.0.1' },
    })
  }
})
