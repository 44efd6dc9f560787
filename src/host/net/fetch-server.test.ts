import { once } from 'node:events'
import { stat, symlink, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { serveFetch, type FetchServer, type FetchServerOptions } from './fetch-server.ts'
import { liveBody } from './live-body.ts'

async function open(options: Partial<FetchServerOptions> = {}): Promise<FetchServer> {
  const server = await serveFetch({
    ports: [0],
    fetch: async (request) => new Response(`${request.method} ${new URL(request.url).pathname}`),
    refusalResponse: (why) => new Response(why, { status: 403 }),
    ...options,
  })
  if (!server.ok) throw new Error(server.error.message)
  onTestFinished(() => server.value.close())
  return server.value
}

/** Sends a request over a socket in the file system. */
async function overSocket(path: string, headers: Record<string, string> = {}): Promise<string> {
  const request = httpRequest({ socketPath: path, path: '/x', headers })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let body = `${response.statusCode} `
  for await (const piece of response as AsyncIterable<Buffer>) body += piece.toString()
  return body
}

function connected(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket
}

test('the same handler serves a port and a socket', async () => {
  const path = join(await freshFolder(), 's')
  const server = await open({ socket: path })
  expect(server.socket).toEqual({ ok: true, value: path })
  expect(await (await fetch(`http://127.0.0.1:${server.port}/x`)).text()).toBe('GET /x')
  expect(await overSocket(path, { host: 'anything' })).toBe('200 GET /x')
  expect(await overSocket(path, { host: 'a', origin: 'http://b' })).toBe('403 origin')
  expect(((await stat(path)).mode & 0o777).toString(8)).toBe('600')
})

test('a request of another site is refused before the handler runs', async () => {
  let calls = 0
  const { port } = await open({
    fetch: async () => {
      calls += 1
      return new Response()
    },
  })
  const origin = 'http://evil.example'
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { origin } })
  expect([answer.status, await answer.text(), calls]).toEqual([403, 'origin', 0])
})

test('close removes the socket, ends every connection and may be called twice', async () => {
  const path = join(await freshFolder(), 's')
  const server = await open({ socket: path })
  const idle = connected(server.port)
  await once(idle, 'connect')
  const ended = once(idle, 'close')
  await Promise.all([server.close(), server.close()])
  await ended
  await expect(stat(path)).rejects.toThrow('ENOENT')
})

test('a socket left by a killed server is replaced; anything else stays', async () => {
  const folder = await freshFolder()
  const left = join(folder, 'left')
  const first = await open({ socket: left })
  const second = await open({ socket: left })
  expect([first.socket?.ok, second.socket?.ok]).toEqual([true, true])
  const file = join(folder, 'file')
  await writeFile(file, 'precious')
  const link = join(folder, 'link')
  await symlink(left, link)
  for (const path of [file, link]) {
    const { socket, port } = await open({ socket: path })
    expect(socket).toMatchObject({ ok: false, error: { kind: 'storage_failed' } })
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  }
  expect((await stat(file)).size).toBe('precious'.length)
})

test('a socket path that the system would truncate is refused, and the port still works', async () => {
  const path = join(await freshFolder(), 'a'.repeat(108))
  const { socket, port } = await open({ socket: path })
  expect(socket).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
})

test('a port in use is skipped; if all are, the failure names them', async () => {
  const { port } = await open()
  const second = await open({ ports: [port, 0] })
  expect(second.port).not.toBe(port)
  const none = await serveFetch({
    ports: [port, second.port],
    fetch: async () => new Response(),
    refusalResponse: () => new Response(),
  })
  expect(none).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
})

test('twenty ports in use leave nothing behind', async () => {
  const warnings: Error[] = []
  const warned = (warning: Error) => void warnings.push(warning)
  process.on('warning', warned)
  onTestFinished(() => void process.off('warning', warned))
  const { port } = await open()
  const other = await open({ ports: [...Array.from({ length: 20 }, () => port), 0] })
  expect(await (await fetch(`http://127.0.0.1:${other.port}/x`)).text()).toBe('GET /x')
  expect(warnings).toEqual([])
})

test('a handler that throws gets status 500, and the next request works', async () => {
  const { port } = await open({
    fetch: async ({ url }) => {
      if (url.endsWith('/broken')) throw new Error('secret detail')
      return new Response('fine')
    },
  })
  const broken = await fetch(`http://127.0.0.1:${port}/broken`)
  expect([broken.status, await broken.text()]).toEqual([500, ''])
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('fine')
})

test('a body is read no faster than the handler takes it', async () => {
  const { port } = await open({
    // The server gives up when nothing moves any more.
    bounds: { stalledMs: 100 },
    fetch: async ({ body }) => {
      const stream: ReadableStream<Uint8Array> | null = body
      await stream?.getReader().read()
      // Never reads again.
      return new Promise(() => {})
    },
  })
  const socket = connected(port)
  socket.write(`PUT / HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 1000000000\r\n\r\n`)
  const piece = Buffer.alloc(1024 * 1024)
  let taken = 0
  const more = () => {
    socket.write(piece, (error) => {
      if (error instanceof Error) return
      taken += piece.length
      more()
    })
  }
  more()
  await new Promise<void>((resolve) => void socket.once('close', () => resolve()))
  // The kernel and the server have a few buffers; the rest stayed with the client.
  expect(taken).toBeLessThan(32 * 1024 * 1024)
})

test('a response is produced no faster than the client takes it, and ends when it leaves', async () => {
  let produced = 0
  const cancelled = withResolvers<void>()
  const { port } = await open({
    fetch: async () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            produced += 1
            controller.enqueue(Buffer.alloc(1024 * 1024))
          },
          cancel: () => cancelled.resolve(),
        }),
      ),
  })
  const socket = connected(port)
  socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  socket.pause()
  await once(socket, 'readable')
  socket.destroy()
  await cancelled.promise
  expect(produced).toBeLessThan(32)
})

test('a reader of live events that never reads is dropped with its connection', async () => {
  const sent = withResolvers<number>()
  const stalled = withResolvers<void>()
  const { port } = await open({
    bounds: { stalledMs: 50 },
    fetch: async ({ signal }) => {
      signal.addEventListener('abort', () => stalled.resolve())
      const body = liveBody({
        onGone: (why) => {
          if (why === 'too_slow') sent.resolve(count)
        },
      })
      let count = 0
      const more = () => {
        for (let i = 0; i < 16; i++) if (body.send(Buffer.alloc(64 * 1024))) count += 64 * 1024
        if (body.send(Buffer.alloc(1))) setImmediate(more)
      }
      more()
      return new Response(body.stream)
    },
  })
  const socket = connected(port)
  socket.pause()
  socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  const closed = once(socket, 'close')
  // Also what the kernel takes while nothing is read.
  expect(await sent.promise).toBeLessThan(32 * 1024 * 1024)
  await stalled.promise
  socket.resume()
  await closed
})

test('a connection that waits for its next request is closed after a while', async () => {
  const { port } = await open({ bounds: { idleMs: 20 } })
  const socket = connected(port)
  socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  socket.resume()
  await once(socket, 'close')
  expect(socket.destroyed).toBe(true)
})

test('a client that sends no headers, or half a body, loses its connection', async () => {
  const { port } = await open({
    bounds: { headersMs: 40, stalledMs: 60 },
    fetch: async (request) => new Response(await request.text()),
  })
  const silent = connected(port)
  const half = connected(port)
  half.write(`POST / HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 10\r\n\r\nhalf`)
  for (const socket of [silent, half]) socket.resume()
  await Promise.all([silent, half].map((socket) => once(socket, 'close')))
  expect([silent.destroyed, half.destroyed]).toEqual([true, true])
})

test.each(['GET', 'POST'])(
  'a body of a %s that comes byte by byte costs the connection, before its response and after it',
  async (method) => {
    const { port } = await open({
      bounds: { stalledMs: 100 },
      fetch: async (request) =>
        new Response(new URL(request.url).pathname === '/read' ? await request.text() : 'early'),
    })
    const gone = ['/read', '/ignored'].map(async (path) => {
      const socket = connected(port)
      socket.resume()
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n`
      socket.write(`${head}Content-Length: 1000000\r\n\r\n`)
      const drip = setInterval(() => socket.write('a'), 10)
      await new Promise((resolve) => void socket.once('close', resolve))
      clearInterval(drip)
      return socket.destroyed
    })
    expect(await Promise.all(gone)).toEqual([true, true])
  },
)

test('a quiet response is not mistaken for a stalled one', async () => {
  const finish = withResolvers<void>()
  const { port } = await open({
    bounds: { stalledMs: 20 },
    fetch: async () => {
      await finish.promise
      return new Response('late')
    },
  })
  const answer = fetch(`http://127.0.0.1:${port}/`)
  const other = await open({ bounds: { headersMs: 40 } })
  const silent = connected(other.port)
  silent.resume()
  // Takes longer than the limit above, by the clock of the server.
  await once(silent, 'close')
  finish.resolve()
  expect(await (await answer).text()).toBe('late')
})

test('connections above the limit are refused, and others continue', async () => {
  const { port } = await open({ bounds: { connections: 3 } })
  const sockets = [connected(port), connected(port), connected(port)]
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const more = connected(port)
  more.resume()
  await once(more, 'close')
  const [first] = sockets
  first?.write(`GET /on HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  const [bytes] = (await once(first ?? more, 'data')) as [Buffer]
  expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200 /)
})

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
