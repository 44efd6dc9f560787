import type { ServerResponse } from 'node:http'
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
  HEAD,
  KEY,
  textDeltas,
  serveEvents,
} from '../../test/support/providers/scripted-call.ts'
import { until, virtualClock } from '../../test/support/host/virtual-clock.ts'

const MiB = 1024 * 1024

describe('an answer', () => {
  test('consists of its events up to the first end', async () => {
    const { url } = await serveEvents(
      'data: ab\n\nevent: ping\ndata: {}\n\nevent: twice\ndata: x\n\n',
    )
    expect(await answer(url)).toEqual([...textDeltas('ab'), DONE])
  })

  test('does not depend on how it is chunked', async () => {
    const text = Buffer.from(`data: Größe 🚢\r\n\r\ndata: x\n\n${END}`)
    let cut = 0
    const { url } = await serveHttp((_request, response) => {
      const rest = text.subarray(cut)
      response.writeHead(200, HEAD).write(text.subarray(0, cut), () => void response.end(rest))
    })
    const stream = callOf(url)
    for (cut = 1; cut < text.length; cut += 1) {
      const events = await all(stream(BODY, new AbortController().signal))
      expect(events).toEqual([...textDeltas('Größe 🚢x'), DONE])
    }
  })

  test('that has ended releases its connection for the next call', async () => {
    const clock = virtualClock()
    const { url, connections } = await serveEvents(END, (response) => {
      response.end('data: [DONE]\n\n')
    })
    const stream = callOf(url, clock)
    for (let calls = 0; calls < 3; calls += 1) {
      expect(await all(stream(BODY, new AbortController().signal))).toEqual([DONE])
      await until(() => clock.pending().length === 0)
    }
    expect(connections.size).toBe(1)
  })

  test('ends even if the server keeps sending', async () => {
    const clock = virtualClock()
    const silent = await serveEvents(END)
    expect(await all(callOf(silent.url, clock)(BODY, new AbortController().signal))).toEqual([DONE])
    expect(clock.pending()).toEqual([250])
    clock.advance(250)
    expect(await silent.firstClosed).toBe('closed')
    const endless = await serveEvents(END, function more(response): void {
      if (!response.destroyed) response.write(':'.repeat(1_000), () => more(response))
    })
    expect(await answer(endless.url)).toEqual([DONE])
    expect(await endless.firstClosed).toBe('closed')
  })

  test('is not read further if its reader stops early', async () => {
    const { url, firstClosed } = await serveEvents('data: abc\n\n')
    for await (const event of callOf(url)(BODY, new AbortController().signal)) {
      expect(event).toEqual({ type: 'text_delta', text: 'a' })
      break
    }
    expect(await firstClosed).toBe('closed')
  })
})

describe('an invalid answer', () => {
  test.each([
    ['stops without an end', 'data: a\n\n', textDeltas('a')],
    [
      'stops in the middle of its last event',
      'data: a\n\nevent: done\ndata: {}\n',
      textDeltas('a'),
    ],
    ['is empty', '', []],
  ])('%s', async (_how, text, events) => {
    const { url } = await serveHttp((_request, response) => {
      response.writeHead(200, HEAD).end(text)
    })
    expect(await answer(url)).toEqual([...events, failure('invalid_response', {})])
  })

  test('ends with its connection and not with an end event', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n'
    const { url } = await serveBytes(`${head}data: a\n\n`, (socket) => socket.end())
    expect(await answer(url)).toEqual([...textDeltas('a'), failure('invalid_response', {})])
  })

  test.each([
    ['text/html', '<html>', 'invalid_response'],
    ['application/json', '{"id":"x","error":null}', 'invalid_response'],
    ['text/event-streams', END, 'invalid_response'],
    [
      'application/json',
      '{"error":{"message":"m","code":"context_length_exceeded"}}',
      'context_overflow',
    ],
    ['application/json', '{"error":{"message":"m","code":402}}', 'usage_limit'],
    [
      'text/plain',
      '{"type":"error","error":{"type":"overloaded_error","message":"m"}}',
      'overloaded',
    ],
  ])('has the type %s and the content %s', async (type, text, kind) => {
    const { url } = await serveHttp((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(text)
    })
    expect(await answer(url)).toEqual([failure(kind)])
  })

  test('has another type and never ends', async () => {
    const { url, firstClosed } = await serveHttp((_request, response) => more(response))
    function more(response: ServerResponse): void {
      if (!response.destroyed) response.write('x'.repeat(10_000), () => more(response))
    }
    expect(await answer(url)).toEqual([
      failure('invalid_response', { status: 200, content_type: '' }),
    ])
    expect(await firstClosed).toBe('closed')
  })

  test('is compressed', async () => {
    const { url, firstClosed } = await serveHttp((_request, response) => {
      response.writeHead(200, { ...HEAD, 'content-encoding': 'gzip' }).write('x')
    })
    expect(await answer(url)).toEqual([failure('invalid_response', {})])
    expect(await firstClosed).toBe('closed')
  })

  test.each([
    ['has an event without an end', 'x'.repeat(MiB), 17],
    ['has no end', `${':'.repeat(MiB - 1)}\n`, 65],
    ['has an event of very many values', `data: [${'[],'.repeat(30_000)}0]\n\n`, 1],
  ])('%s', async (_how, piece, most) => {
    let sent = 0
    const { url, firstClosed } = await serveEvents('', function more(response): void {
      sent += 1
      if (!response.destroyed && sent <= most) response.write(piece, () => more(response))
    })
    expect(await answer(url)).toEqual([failure('invalid_response', {})])
    expect(await firstClosed).toBe('closed')
  })
})

describe('a failure on this side', () => {
  test('an error of the reader is reported without the key', async () => {
    const { url, firstClosed } = await serveEvents('event: fault\ndata: no\n\n')
    const error = {
      kind: 'refused',
      message: 'no [redacted key]',
      details: { code: '[redacted key]' },
    }
    expect(await answer(url)).toEqual([{ type: 'error', error: { ...error, next_actions: [] } }])
    expect(await firstClosed).toBe('closed')
  })

  test('the connection is closed before an error is reported', async () => {
    const { url, firstClosed } = await serveEvents('event: fault\ndata: no\n\n')
    const events = callOf(url)(BODY, new AbortController().signal)[Symbol.asyncIterator]()
    expect(await events.next()).toMatchObject({ value: { type: 'error' } })
    expect(await firstClosed).toBe('closed')
  })

  test('an exception of the reader is one error', async () => {
    const { url, firstClosed } = await serveEvents('data: a\n\nevent: defect\ndata: x\n\n')
    expect(await answer(url)).toEqual([
      ...textDeltas('a'),
      failure('internal', { causes: ['TypeError: no [redacted key]'] }),
    ])
    expect(await firstClosed).toBe('closed')
  })

  test('anything thrown instead of an answer is one error', async () => {
    const thrown: [unknown, string][] = [
      [new Error(`Bearer ${KEY} is bad`), 'internal'],
      [KEY, 'internal'],
      [undefined, 'internal'],
      [{ status: 429, error: { message: KEY } }, 'rate_limited'],
      [{ status: 400, error: { error: { message: 'prompt is too long' } } }, 'context_overflow'],
      [{ status: undefined, error: undefined }, 'network'],
      [{ status: 'odd' }, 'internal'],
    ]
    const kinds = await Promise.all(
      thrown.map(async ([error]) => {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- An SDK may throw anything.
        const stream = callWith(() => Promise.reject(error))
        return all(stream(BODY, new AbortController().signal))
      }),
    )
    expect(kinds).toEqual(thrown.map(([, kind]) => [failure(kind)]))
  })

  test('an answer without a body is invalid', async () => {
    const stream = callWith(() => {
      return Promise.resolve({ status: 200, headers: new Headers(HEAD), body: null })
    })
    const events = await all(stream(BODY, new AbortController().signal))
    expect(events).toEqual([failure('invalid_response', {})])
  })
})
