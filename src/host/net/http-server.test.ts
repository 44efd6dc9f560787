import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  listenLocally,
  type LocalRequest,
  type LocalServer,
  type LocalServerOptions,
  type WrittenAnswer,
} from './http-server.ts'

function plain(text: string, more: Partial<WrittenAnswer> = {}): WrittenAnswer {
  return { status: 200, headers: {}, pieces: [Buffer.from(text)], ...more }
}

async function open(options: Partial<LocalServerOptions> = {}): Promise<LocalServer> {
  const handle = async () => plain('here')
  const listening = await listenLocally({ port: 0, longest: 1000, handle, ...options })
  if (!listening.ok) throw new Error(listening.error.message)
  onTestFinished(() => listening.value.close())
  return listening.value
}

/** Sends bytes to a server and returns everything it sends until it closes the connection. */
async function say(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.end(bytes)
  let reply = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (reply += piece))
  socket.on('error', () => {})
  await once(socket, 'close')
  return reply
}

test('a handler gets the request unchanged, and its response is sent piece by piece', async () => {
  let got: LocalRequest | undefined
  const { port } = await open({
    handle: async (request) => {
      got = request
      return plain('', {
        status: 207,
        headers: { 'x-a': 'b' },
        pieces: [Buffer.from('one'), Buffer.from('two')],
      })
    },
  })
  const answer = await fetch(`http://localhost:${port}/a/b?c=d`, {
    method: 'PUT',
    headers: { 'X-Name': 'value' },
    body: 'body',
  })
  expect([answer.status, answer.headers.get('x-a'), await answer.text()]).toEqual([
    207,
    'b',
    'onetwo',
  ])
  const { method, path, headers, body } = got ?? {}
  expect({ method, path, name: headers?.['x-name'], body: body?.toString() }).toEqual({
    method: 'PUT',
    path: '/a/b?c=d',
    name: 'value',
    body: 'body',
  })
})

test.each([
  'example.com',
  'localhost.example.com',
  '127.0.0.1.example.com',
  'localhost',
  '127.0.0.1:1',
  '[::1]',
])('a request with the host name %s is refused before any handler runs', async (host) => {
  let requests = 0
  const { port } = await open({
    handle: async () => {
      requests += 1
      return plain('here')
    },
  })
  const reply = await say(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  expect([reply.startsWith('HTTP/1.1 403 '), requests]).toEqual([true, 0])
})

test('a port in use is a failure that names the port', async () => {
  const { port } = await open()
  const second = await listenLocally({ port, longest: 1, handle: async () => 'hang_up' })
  expect(second).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', details: { port, code: 'EADDRINUSE' } },
  })
})

test('a body up to the limit is passed on, and a longer one is discarded', async () => {
  const lengths: (number | undefined)[] = []
  const { port } = await open({
    handle: async ({ body }) => {
      lengths.push(body?.length)
      return plain('', { status: body === undefined ? 413 : 200 })
    },
  })
  const statuses: number[] = []
  for (const length of [0, 1000, 1001, 5_000_000]) {
    const body = new Uint8Array(length)
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })
    statuses.push(answer.status)
  }
  expect([lengths, statuses]).toEqual([
    [0, 1000, undefined, undefined],
    [200, 200, 413, 413],
  ])
})

test('a handler that throws gets status 500, and the next request works', async () => {
  const { port } = await open({
    handle: async ({ path }) => {
      if (path === '/broken') throw new Error('broken')
      return plain('here')
    },
  })
  const answers = []
  for (const path of ['/broken', '/']) {
    answers.push((await fetch(`http://127.0.0.1:${port}${path}`)).status)
  }
  expect(answers).toEqual([500, 200])
})

test('a handler can close the connection without a response or in the middle of one', async () => {
  const { port } = await open({
    handle: async ({ path }) => (path === '/' ? 'hang_up' : plain('half of it', { cut: true })),
  })
  const request = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`
  expect(await say(port, request('/'))).toBe('')
  const reply = await say(port, request('/cut'))
  expect([reply.includes('half of it'), reply.endsWith('0\r\n\r\n')]).toEqual([true, false])
})

test('a client that disconnects ends only its own connection', async () => {
  const gone: Promise<void>[] = []
  const requests = withResolvers()
  const { port } = await open({
    handle: async ({ path, signal }) => {
      if (path !== '/wait') return plain('here')
      const left = once(signal, 'abort').then(() => undefined)
      gone.push(left)
      requests.resolve()
      await left
      return plain('not received')
    },
  })
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET /wait HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  await requests.promise
  socket.destroy()
  await Promise.all(gone)
  const cut = connect(port, '127.0.0.1')
  cut.end(`POST / HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 100\r\n\r\nhalf`)
  cut.resume()
  await once(cut, 'close')
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('here')
})

function withResolvers() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

test('invalid HTTP and endless headers are refused and do not stop the server', async () => {
  const { port } = await open()
  expect(await say(port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  const long = `GET / HTTP/1.1\r\nHost: localhost:${port}\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`
  expect(await say(port, long)).toMatch(/^HTTP\/1\.1 431 /)
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
})

test('messages of a socket are handled one after another', async () => {
  const order: string[] = []
  const { port } = await open({
    upgrade: async () => async (message, socket) => {
      order.push(`begin ${message}`)
      await new Promise((resolve) => void setImmediate(resolve))
      order.push(`end ${message}`)
      await socket.send(Buffer.from(`${message}!`))
    },
  })
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`)
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  const reply: string[] = []
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      reply.push(data.toString())
      if (reply.length === 3) resolve()
    })
  })
  for (const message of ['a', 'b', 'c']) socket.send(message)
  await all
  expect([reply, order]).toEqual([
    ['a!', 'b!', 'c!'],
    ['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c'],
  ])
})

test('a socket is refused with the response of the handler, or when there is no handler', async () => {
  const requests = await open({ upgrade: async () => plain('{"no":"key"}', { status: 401 }) })
  const socket = new WebSocket(`ws://127.0.0.1:${requests.port}/`)
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ]
  let body = ''
  for await (const piece of response) body += piece.toString()
  expect([response.statusCode, body]).toEqual([401, '{"no":"key"}'])
  const nobody = await open()
  const refused = new WebSocket(`ws://127.0.0.1:${nobody.port}/`)
  const [error] = (await once(refused, 'error')) as [Error]
  expect(error).toBeInstanceOf(Error)
})

test('a message that is too long, or whose handler throws, closes only its own socket', async () => {
  const { port } = await open({
    upgrade: async () => async (message, socket) => {
      if (message === 'broken') throw new Error('broken')
      await socket.send(Buffer.from('fine'))
    },
  })
  for (const message of ['a'.repeat(1001), 'broken']) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`)
    await once(socket, 'open')
    socket.send(message)
    await once(socket, 'close')
  }
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`)
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  socket.send('good')
  const [data] = (await once(socket, 'message')) as [Buffer]
  expect(data.toString()).toBe('fine')
})

test('close ends every connection and may be called twice', async () => {
  const server = await open({ upgrade: async () => async () => {} })
  const idle = connect(server.port, '127.0.0.1')
  await once(idle, 'connect')
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`)
  await once(socket, 'open')
  const ended = Promise.all([once(idle, 'close'), once(socket, 'close')])
  await Promise.all([server.close(), server.close()])
  await ended
  await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow('fetch failed')
})
