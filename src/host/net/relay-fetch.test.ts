import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { thrown } from '../../../test/support/host/thrown.ts'
import { socketPair } from '../../../test/support/tether/relay-place.ts'
import { until } from '../../../test/support/host/virtual-clock.ts'
import { relayFetch } from './relay-fetch.ts'

const HOME = 'http://relay/'

interface Seen {
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** A fetch whose calls are answered by `respond`, once their body has arrived. */
async function served(respond: (stream: ServerHttp2Stream, seen: Seen) => void) {
  const [serverEnd, guest] = await socketPair()
  const session = performServerHandshake(serverEnd)
  session.on('error', () => {})
  session.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
    stream.once('end', () => {
      respond(stream, { headers, body: Buffer.concat(chunks).toString() })
    })
  })
  return { fetch: relayFetch(guest), session, guest }
}

const ABORTED = { name: 'AbortError', code: 20 }
const CUT = { name: 'HttpFailure', code: 'ECONNRESET' }

test('a request is sent unchanged, and the response is returned unchanged', async () => {
  const calls: Seen[] = []
  const { fetch } = await served((stream, seen) => {
    calls.push(seen)
    stream.respond({ ':status': 201, 'x-name': 'value', 'set-cookie': ['a=1', 'b=2'] })
    stream.end('answer 🚢')
  })
  const headers = { 'Content-Type': 'application/json' }
  const body = Buffer.from('{"text":"Größe"}')
  const answer = await fetch(`${HOME}a?b=c`, { method: 'POST', headers, body })
  expect({
    status: answer.status,
    ok: answer.ok,
    name: answer.headers.get('x-name'),
    cookies: answer.headers.getSetCookie(),
    text: await answer.text(),
  }).toEqual({ status: 201, ok: true, name: 'value', cookies: ['a=1', 'b=2'], text: 'answer 🚢' })
  expect(calls).toMatchObject([
    {
      headers: {
        ':method': 'POST',
        ':path': '/a?b=c',
        ':scheme': 'http',
        ':authority': 'relay',
        'content-type': 'application/json',
        'content-length': String(body.length),
      },
      body: '{"text":"Größe"}',
    },
  ])
})

test('a redirect is returned, not followed', async () => {
  const { fetch } = await served((stream) => {
    stream.respond({ ':status': 302, location: 'http://example.invalid' }, { endStream: true })
  })
  const answer = await fetch(HOME)
  expect([answer.status, answer.headers.get('location')]).toEqual([302, 'http://example.invalid'])
})

test('a response without a body has none', async () => {
  const { fetch } = await served((stream) => stream.respond({ ':status': 204 }))
  expect((await fetch(HOME)).body).toBeNull()
})

test('an aborted call rejects before it starts, before its answer and during its body', async () => {
  const resets: (number | undefined)[] = []
  const early = new AbortController()
  const { fetch } = await served((stream, { headers }) => {
    stream.once('close', () => void resets.push(stream.rstCode))
    if (headers[':path'] === '/silent') return early.abort()
    stream.respond({ ':status': 200 })
    stream.write('some')
  })
  expect(await thrown(fetch(HOME, { signal: AbortSignal.abort() }))).toEqual(ABORTED)
  expect(await thrown(fetch(`${HOME}silent`, { signal: early.signal }))).toEqual(ABORTED)
  const late = new AbortController()
  const answer = await fetch(HOME, { signal: late.signal })
  late.abort()
  expect(await thrown(answer.text())).toEqual(ABORTED)
  expect(getEventListeners(late.signal, 'abort')).toEqual([])
  const other = await fetch(HOME)
  await other.body?.cancel()
  await until(() => resets.length === 3)
  expect(resets).toEqual([8, 8, 8])
})

test('a call that the relay cuts off rejects, before its answer and during its body', async () => {
  const { fetch } = await served((stream, { headers }) => {
    if (headers[':path'] === '/body') {
      stream.respond({ ':status': 200 })
      stream.write('some', () => void stream.destroy(new Error('cut')))
    } else stream.destroy(new Error('cut'))
  })
  expect(await thrown(fetch(HOME))).toEqual(CUT)
  const answer = await fetch(`${HOME}body`)
  expect(await thrown(answer.text())).toEqual(CUT)
})

test('a body that is cut with the code of a cancelled call is not mistaken for a complete one', async () => {
  const { fetch } = await served((stream) => {
    stream.respond({ ':status': 200 })
    stream.write('some', () => {
      const error = Object.assign(new Error('cut'), { code: 'ERR_HTTP2_STREAM_CANCEL' })
      stream.destroy(error)
    })
  })
  const answer = await fetch(HOME)
  expect(await thrown(answer.text())).toEqual(CUT)
})

test('every call rejects when the connection breaks, and after it', async () => {
  const { fetch, guest } = await served((stream, { headers }) => {
    if (headers[':path'] !== '/body') return void guest.destroy()
    stream.respond({ ':status': 200 })
    stream.write('some')
  })
  const answer = await fetch(`${HOME}body`)
  expect(await thrown(fetch(HOME))).toEqual(CUT)
  expect(await thrown(answer.text())).toEqual(CUT)
  expect(await thrown(fetch(HOME))).toEqual(CUT)
})
