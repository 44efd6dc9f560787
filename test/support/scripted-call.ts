import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { systemClock, type Clock } from '../../src/host/clock.ts'
import { failed } from '../../src/model/errors.ts'
import type { AnswerReader } from '../../src/providers/answer-reader.ts'
import { boundFetch } from '../../src/providers/bound-fetch.ts'
import { streamAnswer, type Send } from '../../src/providers/call.ts'
import type { ProviderEvent } from '../../src/providers/provider.ts'
import { serveHttp } from './loopback-server.ts'

/** No part of an error tells it: `all` looks for it in everything. */
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

/** Says every event's text letter by letter, and ends, fails or breaks when it is told to. */
function reader(): AnswerReader {
  return {
    progress: 0,
    take: ({ event, data }) => {
      if (event === 'ping') return []
      if (event === 'done') return [DONE]
      if (event === 'twice') return [DONE, DONE, ...said('late')]
      if (event === 'fault') {
        return [{ type: 'error', error: failed('refused', `${data} ${KEY}`, { code: KEY }).error }]
      }
      if (event === 'defect') throw new TypeError(`no ${KEY}`)
      return said(data)
    },
  }
}

export function said(text: string): ProviderEvent[] {
  return Array.from(text, (one) => ({ type: 'text_delta', text: one }))
}

/** A call to a server by our own `fetch`, without an SDK around it. */
export function callOf(baseUrl: string, clock: Clock = systemClock) {
  const options = { key: KEY, baseUrl, idleMs: IDLE_MS, clock }
  const fetch = boundFetch(options)
  const send: Send = (body, signal) => fetch(baseUrl, { method: 'POST', body, signal })
  return streamAnswer({ send, reader, options })
}

/** A call that is sent in another way. */
export function callBy(send: Send, clock: Clock = systemClock) {
  const options = { key: KEY, baseUrl: 'http://127.0.0.1', idleMs: IDLE_MS, clock }
  return streamAnswer({ send, reader, options })
}

/** All that a call says. No part of it tells the key. */
export async function all(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const seen: ProviderEvent[] = []
  for await (const event of events) seen.push(event)
  expect(JSON.stringify(seen)).not.toContain(KEY.slice(0, 8))
  return seen
}

/** All that a server says in one call. */
export function answer(url: string): Promise<ProviderEvent[]> {
  return all(callOf(url)(BODY, new AbortController().signal))
}

/** The end of a call that failed. */
export function failure(kind: string, details: unknown = expect.anything()) {
  return { type: 'error', error: expect.objectContaining({ kind, details }) }
}

/** A server that says this as a stream of events, which it does not end by itself. */
export function serveEvents(text: string, then: (response: ServerResponse) => void = () => {}) {
  return serveHttp((_request, response) => {
    response.writeHead(200, HEAD).write(text, () => then(response))
  })
}
