import { getEventListeners } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { serveBytes, serveHttp } from '../../test/support/host/loopback-server.ts'
import {
  all,
  answer,
  BODY,
  callWith,
  callOf,
  DONE,
  END,
  failure,
  IDLE_MS,
  textDeltas,
  serveEvents,
} from '../../test/support/providers/scripted-call.ts'
import { until, virtualClock } from '../../test/support/host/virtual-clock.ts'
import type { Send } from './call.ts'
import type { ProviderEvent } from './provider.ts'

describe('an interrupted call', () => {
  test('is not sent if it is interrupted before it starts', async () => {
    const { url, connections } = await serveEvents(END)
    expect(await all(callOf(url)(BODY, AbortSignal.abort()))).toEqual([failure('interrupted', {})])
    expect(connections.size).toBe(0)
  })

  test('closes the connection if the server has not answered yet', async () => {
    const abort = new AbortController()
    const { url, firstClosed } = await serveHttp(() => abort.abort())
    expect(await all(callOf(url)(BODY, abort.signal))).toEqual([failure('interrupted', {})])
    expect(await firstClosed).toBe('closed')
  })

  test('closes the connection while the server is silent', async () => {
    const abort = new AbortController()
    const { url, firstClosed } = await serveEvents('data: a\n\n')
    const events = callOf(url)(BODY, abort.signal)[Symbol.asyncIterator]()
    expect(await events.next()).toMatchObject({ value: { text: 'a' } })
    const next = events.next()
    abort.abort()
    expect(await next).toEqual({ done: false, value: failure('interrupted', {}) })
    expect(await firstClosed).toBe('closed')
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('returns none of the events that arrived but were not read yet', async () => {
    const abort = new AbortController()
    const { url, firstClosed } = await serveEvents(`data: abc\n\n${END}`)
    const seen: ProviderEvent[] = []
    for await (const event of callOf(url)(BODY, abort.signal)) {
      seen.push(event)
      if (seen.length === 2) abort.abort()
    }
    expect(seen).toEqual([...textDeltas('ab'), failure('interrupted', {})])
    expect(await firstClosed).toBe('closed')
  })

  test('ends as interrupted, whatever error its connection reports', async () => {
    const abort = new AbortController()
    const rejecting: Send = (_body, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('closed')))
      })
    const events = all(callWith(rejecting)(BODY, abort.signal))
    abort.abort()
    expect(await events).toEqual([failure('interrupted', {})])
  })

  test('ends even if its send function ignores the signal', async () => {
    const abort = new AbortController()
    const never = callWith(() => new Promise(() => {}))
    const events = all(never(BODY, abort.signal))
    abort.abort()
    expect(await events).toEqual([failure('interrupted', {})])
  })

  test('leaves no listener on the signal after its end', async () => {
    const { url } = await serveEvents(END, (response) => response.end())
    const { signal } = new AbortController()
    expect(await all(callOf(url)(BODY, signal))).toEqual([DONE])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('a server that is silent for too long', () => {
  test('is abandoned before it answers', async () => {
    const clock = virtualClock()
    const { url, firstClosed } = await serveHttp(() => clock.advance(IDLE_MS))
    const events = await all(callOf(url, clock)(BODY, new AbortController().signal))
    expect(events).toEqual([failure('stream_idle', {})])
    expect(await firstClosed).toBe('closed')
    expect(clock.pending()).toEqual([])
  })

  test('is abandoned in the middle of its answer, but every byte restarts the idle limit', async () => {
    const clock = virtualClock()
    let say = (_text: string) => {}
    const { url, firstClosed } = await serveEvents('data: a\n\n', (response) => {
      say = (text) => void response.write(text)
    })
    const events = callOf(url, clock)(BODY, new AbortController().signal)[Symbol.asyncIterator]()
    expect(await events.next()).toMatchObject({ value: { text: 'a' } })
    const next = events.next()
    for (const text of [':', '\n', 'event: ping\ndata: {}\n\n', 'd']) {
      await until(() => clock.pending().length === 2)
      const { set } = clock
      clock.advance(IDLE_MS - 1)
      say(text)
      await until(() => clock.set > set)
    }
    clock.advance(IDLE_MS)
    expect(await next).toEqual({ done: false, value: failure('stream_idle', {}) })
    expect(await firstClosed).toBe('closed')
  })

  test('is not assumed while the caller reads slowly', async () => {
    const clock = virtualClock()
    const { url } = await serveEvents('data: ab\n\n', (response) => response.end(END))
    const seen: ProviderEvent[] = []
    for await (const event of callOf(url, clock)(BODY, new AbortController().signal)) {
      clock.advance(10 * IDLE_MS)
      seen.push(event)
    }
    expect(seen).toEqual([...textDeltas('ab'), DONE])
  })
})

describe('a connection', () => {
  test('that cannot be established is a network failure', async () => {
    const { url, stop } = await serveHttp(() => {})
    stop()
    const details = { code: 'ECONNREFUSED', origin: url.slice(0, -1) }
    expect(await answer(url)).toEqual([failure('network', details)])
  })

  test('that breaks before the answer is a network failure', async () => {
    const { url, connections } = await serveBytes('', (socket) => socket.resetAndDestroy())
    expect(await answer(url)).toEqual([
      failure('network', expect.objectContaining({ code: 'ECONNRESET' })),
    ])
    expect(connections.size).toBe(1)
  })

  const chunked = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n'
  test.each([
    [
      'is reset',
      `transfer-encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n`,
      (s: Socket) => s.resetAndDestroy(),
    ],
    [
      'ends between two chunks',
      `transfer-encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n`,
      (s: Socket) => s.end(),
    ],
    ['ends before its length', `content-length: 99\r\n\r\ndata: a\n\n`, (s: Socket) => s.end()],
  ])('that %s in the middle of an answer is a network failure', async (_how, rest, end) => {
    const { url } = await serveBytes(`${chunked}${rest}`, end)
    expect(await answer(url)).toEqual([
      ...textDeltas('a'),
      failure('network', expect.objectContaining({ code: 'ECONNRESET' })),
    ])
  })
})
