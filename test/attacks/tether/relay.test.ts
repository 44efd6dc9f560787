// A guest that speaks HTTP/2 itself, against the server's end of the relay: whatever it sends, the server stays as it was.
import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { addressOf, type Fetch } from '../../../src/host/net/http.ts'
import { RELAY_URL } from '../../../src/model/tether/relay-url.ts'
import { CANARY_PARTS } from '../../support/host/canary.ts'
import { accessTo, postTo, relayPlace } from '../../support/tether/relay-place.ts'
import { until } from '../../support/host/virtual-clock.ts'

const CALL = {
  ':method': 'POST',
  ':path': '/v1/messages',
  ':authority': 'relay',
  'content-type': 'application/json',
}
const BODY = '{"model":"model","messages":[]}'

/** The frames of HTTP/2, by RFC 9113. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(4, 0, 0, Buffer.alloc(0)),
])

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A literal header field without indexing and without compression. */
function field(name: string, value: string): Buffer {
  const text = (of: string) => Buffer.concat([Buffer.from([of.length]), Buffer.from(of)])
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}

const END_STREAM = 1
const END_HEADERS = 4

function requestFrames(stream: number): Buffer {
  const fields = Object.entries({ ':scheme': 'http', ...CALL }).map(([name, of]) => field(name, of))
  return Buffer.concat([
    frame(1, END_HEADERS, stream, Buffer.concat(fields)),
    frame(0, END_STREAM, stream, Buffer.from(BODY)),
  ])
}

function resetCall(stream: number): Buffer {
  return Buffer.concat([requestFrames(stream), frame(3, 0, stream, Buffer.from([0, 0, 0, 8]))])
}

function continuationFlood(): Buffer {
  const more = frame(9, 0, 1, field('x', 'y'.repeat(100)))
  return Buffer.concat([
    frame(1, 0, 1, field(':method', 'POST')),
    ...Array.from({ length: 10_000 }, () => more),
  ])
}

async function place(fetch: Fetch = async () => new Response('{}')) {
  const urls: string[] = []
  const access = accessTo('messages', 'http://127.0.0.1:1')
  const recorded: Fetch = async (input, init) => {
    urls.push(addressOf(input).href)
    return fetch(input, init)
  }
  return { ...(await relayPlace({ ...access, post: postTo(recorded) })), urls }
}

function sessionOn(socket: Socket): ClientHttp2Session {
  const session = connect(RELAY_URL, { createConnection: () => socket })
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  return session
}

/** The status of the answer, or the code with which the call was reset. */
function outcome(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body = BODY) {
  return new Promise<unknown>((resolve) => {
    const stream = session.request({ ...CALL, ...headers }, { endStream: false })
    stream.on('error', () => {})
    stream.once('response', (answer) => resolve(answer[':status']))
    stream.once('close', () => resolve(`reset ${stream.rstCode}`))
    stream.resume()
    stream.end(body)
  })
}

test('another origin, path, method, model or encoding reaches no server', async () => {
  const { socket, urls } = await place()
  const session = sessionOn(socket)
  const attempts: readonly OutgoingHttpHeaders[] = [
    { ':authority': 'example.invalid' },
    { ':authority': 'relay:80' },
    { ':scheme': 'https' },
    { ':path': '/v1/files' },
    { ':path': '/v1/messages/../files' },
    { ':path': '/v1/messages?x' },
    { ':path': 'http://example.invalid/v1/messages' },
    { ':path': '//example.invalid/v1/messages' },
    { ':path': '*' },
    { ':method': 'GET' },
    { ':method': 'PUT' },
    { ':method': 'DELETE' },
    { ':method': 'OPTIONS' },
    { 'content-type': 'multipart/form-data' },
    { 'content-encoding': 'gzip' },
  ]
  // Invalid paths are reset by the protocol.
  for (const attempt of attempts)
    expect([403, 'reset 1']).toContain(await outcome(session, attempt))
  for (const body of ['', '{}', '{"model":"other"}', 'x'.repeat(1000)]) {
    expect(await outcome(session, {}, body)).toBe(403)
  }
  const tunnel = { ':method': 'CONNECT', ':authority': 'example.invalid:443' }
  const connected = new Promise((resolve) => {
    const stream = session.request(tunnel, { endStream: false })
    stream.on('error', () => {})
    stream.once('response', (answer) => resolve(answer[':status']))
    stream.once('close', () => resolve('reset'))
  })
  expect(await connected).toBe(403)
  const head = session.request({ ...CALL, ':method': 'HEAD' })
  const headed = new Promise((resolve) => {
    head.once('response', (answer) => resolve(answer[':status']))
  })
  expect(await headed).toBe(403)
  expect(urls).toEqual([])
  // The connection works as before.
  expect(await outcome(session, {})).toBe(200)
  expect(urls).toEqual(['http://127.0.0.1:1/v1/messages'])
})

test('a host header chooses nothing', async () => {
  const { socket, urls } = await place()
  expect(await outcome(sessionOn(socket), { host: 'example.invalid' })).toBe(200)
  expect(urls).toEqual(['http://127.0.0.1:1/v1/messages'])
})

test('nothing that a guest receives contains the key, even if the provider repeats it everywhere', async () => {
  const { socket } = await place(async (_input, init) => {
    const key = new Headers(init?.headers).get('authorization') ?? ''
    const headers = { 'request-id': key, 'x-echo': key, 'content-type': key, 'retry-after': key }
    return new Response(JSON.stringify({ [key]: [key, { error: key.slice(0, 30) }] }), {
      status: 401,
      headers,
    })
  })
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void received.push(chunk))
  const session = sessionOn(socket)
  const stream = session.request(CALL)
  const texts: string[] = []
  stream.once('response', (headers) => void texts.push(JSON.stringify(headers)))
  stream.on('data', (chunk: Buffer) => void texts.push(chunk.toString()))
  stream.end(BODY)
  await new Promise((resolve) => void stream.once('close', resolve))
  const all = texts.join()
  expect(all).toContain('[redacted key]')
  expect(CANARY_PARTS.filter((part) => all.includes(part))).toEqual([])
})

test('a call with huge headers or too many is reset', async () => {
  const { socket, urls } = await place()
  const session = sessionOn(socket)
  // The limit applies once the guest has confirmed it; until then, that of Node does.
  expect(await outcome(session, {})).toBe(200)
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`x-${at}`, 'y']))
  for (const headers of [{ 'x-huge': 'x'.repeat(9_000) }, { 'x-huge': 'x'.repeat(60_000) }, many]) {
    expect(await outcome(session, headers)).toBe('reset 11')
  }
  expect(await outcome(session, {})).toBe(200)
  expect(urls).toHaveLength(2)
})

test('ten thousand calls at once: a few run, some are refused with an answer, and the rest costs the connection', async () => {
  let running = 0
  let most = 0
  const { socket, relay } = await place(async (_input, init) => {
    running += 1
    most = Math.max(most, running)
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => {
        running -= 1
        reject(new Error('aborted'))
      })
    })
  })
  // A client that ignores the limit of the relay, as Node's own would not.
  socket.write(PREFACE)
  socket.resume()
  const requests = Array.from({ length: 10_000 }, (_, at) => requestFrames(1 + 2 * at))
  socket.write(Buffer.concat(requests))
  expect(await relay.closed).toBeDefined()
  expect(most).toBeLessThanOrEqual(32)
  await until(() => running === 0)
})

const FLOODS: readonly (readonly [string, (at: number) => Buffer, string])[] = [
  ['calls that are reset at once', (at) => resetCall(1 + 2 * at), 'too many resets'],
  ['settings', () => frame(4, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100])), 'too many settings'],
  ['pings', () => frame(6, 0, 0, Buffer.alloc(8)), 'too many pings'],
]
test.each(FLOODS)('a flood of %s costs the connection', async (_name, one, reason) => {
  const { socket, relay } = await place(() => new Promise(() => {}))
  socket.write(PREFACE)
  socket.resume()
  for (let round = 0; round < 20 && !socket.destroyed; round += 1) {
    const frames = Array.from({ length: 100 }, (_, at) => one(round * 100 + at))
    socket.write(Buffer.concat(frames))
    await new Promise((resolve) => void setImmediate(resolve))
  }
  expect(await relay.closed).toBe(reason)
})

const INVALID: readonly (readonly [string, Buffer])[] = [
  ['text', Buffer.from('GET / HTTP/1.1\r\nhost: relay\r\n\r\n')],
  ['zeros', Buffer.alloc(100_000)],
  ['continuation frames without end', Buffer.concat([PREFACE, continuationFlood()])],
]
test.each(INVALID)('%s instead of HTTP/2 costs the connection', async (_name, bytes) => {
  const { socket, relay } = await place()
  socket.resume()
  socket.write(bytes)
  expect(await relay.closed).toBeDefined()
})

test.each([
  ['for a stream that was never opened', frame(0, 0, 7, Buffer.from('data'))],
  ['that is too long', frame(0, 0, 1, Buffer.alloc(100_000))],
])('after a frame %s, no call is served', async (_name, bytes) => {
  const { socket, urls } = await place()
  const ended = new Promise<Buffer>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      // GOAWAY, the last frame of a connection.
      if (chunk[3] === 7) resolve(chunk)
    })
  })
  socket.write(Buffer.concat([PREFACE, bytes, requestFrames(9)]))
  await ended
  expect(urls).toEqual([])
})
