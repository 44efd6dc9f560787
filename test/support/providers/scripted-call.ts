import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import { failed } from '../../../src/model/errors.ts'
import type { AnswerReader } from '../../../src/providers/answer-reader.ts'
import { boundFetch } from '../../../src/providers/bound-fetch.ts'
import { streamAnswer, type Send } from '../../../src/providers/call.ts'
import type { ProviderEvent } from '../../../src/providers/provider.ts'
import { serveHttp } from '../host/loopback-server.ts'

/** No error may contain it: `all` checks every event. */
export const KEY = 'sk-canary-0123456789abcdef'
export const IDLE_MS = 60_000
export const BODY = Buffer.from('{"model":"m"}')
export const HEAD = { 'content-type': 'text/event-stream; charset=utf-8' }
export const END = 'event: done\ndata: {}\n\n'

export const DONE: ProviderEvent = {
  type: 'done',
  stop_reason: 'end_turn',
  usage: { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 },
}

/** Returns the text of every event letter by letter; the name of an event makes it end, fail or throw. */
function reader(): AnswerReader {
  return {
    progress: 0,
    take: ({ event, data }) => {
      if (event === 'ping') return []
      if (event === 'done') return [DONE]
      if (event === 'twice') return [DONE, DONE, ...textDeltas('late')]
      if (event === 'fault') {
        return [{ type: 'error', error: failed('refused', `${data} ${KEY}`, { code: KEY }).error }]
      }
      if (event === 'defect') throw new TypeError(`no ${KEY}`)
      return textDeltas(data)
    },
  }
}

export function textDeltas(text: string): ProviderEvent[] {
  return Array.from(text, (one) => ({ type: 'text_delta', text: one }))
}

/** A call to a server through our own `fetch`, without an SDK. */
export function callOf(baseUrl: string, clock: Clock = systemClock) {
  const options = { key: KEY, baseUrl, idleMs: IDLE_MS, clock }
  const fetch = boundFetch(options)
  const send: Send = (body, signal) => fetch(baseUrl, { method: 'POST', body, signal })
  return streamAnswer({ send, reader, options })
}

/** A call through another send function. */
export function callWith(send: Send, clock: Clock = systemClock) {
  const options = { key: KEY, baseUrl: 'http://127.0.0.1', idleMs: IDLE_MS, clock }
  return streamAnswer({ send, reader, options })
}

/** All events of a call; asserts that none contains the key. */
export async function all(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const seen: ProviderEvent[] = []
  for await (const event of events) seen.push(event)
  expect(JSON.stringify(seen)).not.toContain(KEY.slice(0, 8))
  return seen
}

/** All events of one call to a server. */
export function answer(url: string): Promise<ProviderEvent[]> {
  return all(callOf(url)(BODY, new AbortController().signal))
}

/** A matcher for the error that ends a failed call. */
export function failure(kind: string, details: unknown = expect.anything()) {
  return { type: 'error', error: expect.objectContaining({ kind, details }) }
}

/** A server that sends this text as a stream of events and does not end the stream. */
export function serveEvents(text: string, then: (response: ServerResponse) => void = () => {}) {
  return serveHttp((_request, response) => {
    response.writeHead(200, HEAD).write(text, () => then(response))
  })
}
