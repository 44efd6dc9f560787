import { execFile } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { getEventListeners } from 'node:events'
import type { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { thrown } from '../../../test/support/host/thrown.ts'
import { bundleScript } from '../../../test/support/host/bundle-script.ts'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { serveBytes, serveHttp } from '../../../test/support/host/loopback-server.ts'
import { systemClock, type Clock } from '../clock.ts'
import { httpFetch } from './http.ts'

async function read(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const ABORTED = { name: 'AbortError', code: 20 }

test('a body is sent unchanged, and the response is returned unchanged', async () => {
  const seen: unknown[] = []
  const { url } = await serveHttp((request, response) => {
    void read(request).then((body) => {
      const { method, url: path, headers } = request
      seen.push({ method, path, headers, body })
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.writeHead(201, { 'X-Name': 'value' }).end('answer 🚢')
    })
  })
  const body = Buffer.from('{"text":"Größe"}')
  const headers = { 'Content-Type': 'application/json', 'accept-encoding': 'gzip' }
  const answer = await httpFetch()(`${url}a?b=c`, { method: 'POST', headers, body })
  expect({
    status: answer.status,
    ok: answer.ok,
    name: answer.headers.get('x-name'),
    cookies: answer.headers.getSetCookie(),
    text: await answer.text(),
  }).toEqual({ status: 201, ok: true, name: 'value', cookies: ['a=1', 'b=2'], text: 'answer 🚢' })
  expect(seen).toEqual([
    {
      method: 'POST',
      path: '/a?b=c',
      headers: {
        'accept-encoding': 'identity',
        connection: 'keep-alive',
        'content-length': String(body.length),
        'content-type': 'application/json',
        host: new URL(url).host,
      },
      body: '{"text":"Größe"}',
    },
  ])
})

test.each([1024 * 1024, 5 * 1024 * 1024 + 1])('a body of %i bytes arrives whole', async (size) => {
  const { url } = await serveHttp((request, response) => {
    void read(request).then((body) => response.end(hash('sha256', body)))
  })
  const body = Buffer.from(
    randomBytes(size)
      .toString('latin1')
      .replaceAll(/[^a-z]/g, 'x'),
  )
  const answer = await httpFetch()(url, { method: 'POST', body })
  expect(await answer.text()).toBe(hash('sha256', body))
})

test('accepts headers in every form, and text as a body', async () => {
  const { url } = await serveHttp((request, response) => {
    void read(request).then((body) => response.end(`${String(request.headers['x-a'])} ${body}`))
  })
  const forms = [
    { 'x-a': '1' },
    [['x-a', '1']] satisfies [string, string][],
    new Headers([['X-A', '1']]),
  ]
  const fetch = httpFetch()
  for (const headers of forms) {
    const answer = await fetch(new URL(url), { method: 'POST', headers, body: 'ü' })
    expect(await answer.text()).toBe('1 ü')
  }
})

test('the body arrives piece by piece while the server is still sending', async () => {
  let sendMore = () => {}
  const { url } = await serveHttp((_request, response) => {
    response.write('one')
    sendMore = () => void response.end('two')
  })
  const answer = await httpFetch()(url)
  const chunks: string[] = []
  for await (const chunk of answer.body ?? []) {
    chunks.push(Buffer.from(chunk).toString())
    if (chunks.length === 1) sendMore()
  }
  expect(chunks).toEqual(['one', 'two'])
})

test('redirects are not followed', async () => {
  const { url } = await serveHttp((request, response) => {
    response.writeHead(307, { location: '/elsewhere' }).end(request.url)
  })
  const answer = await httpFetch()(url)
  expect([answer.status, answer.headers.get('location'), await answer.text()]).toEqual([
    307,
    '/elsewhere',
    '/',
  ])
})

test('nothing is decompressed', async () => {
  const bytes = gzipSync('text')
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes)
  })
  const answer = await httpFetch()(url)
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes)
})

test.each([204, 304])('a response with status %i has no body', async (status) => {
  const { url } = await serveHttp((_request, response) => void response.writeHead(status).end())
  const answer = await httpFetch()(url)
  expect([answer.status, answer.body]).toEqual([status, null])
})

test('an error body is cut at 1 MiB; any other body is read completely', async () => {
  const long = 'x'.repeat(3 * 1024 * 1024)
  const { url } = await serveHttp((request, response) => {
    response.writeHead(Number(request.url?.slice(1))).end(long)
  })
  const fetch = httpFetch()
  const lengths = async (status: number) => (await (await fetch(`${url}${status}`)).text()).length
  expect([await lengths(500), await lengths(200)]).toEqual([1024 * 1024, long.length])
})

test('a connection is reused, even when the signal of its last request is aborted later', async () => {
  const { url, connections } = await serveHttp(
    (request, response) => void response.end(request.url),
  )
  const fetch = httpFetch()
  const abort = new AbortController()
  expect(await (await fetch(`${url}1`, { signal: abort.signal })).text()).toBe('/1')
  const second = await fetch(`${url}2`)
  abort.abort()
  expect([await second.text(), connections.size]).toEqual(['/2', 1])
  expect(getEventListeners(abort.signal, 'abort')).toEqual([])
})

test('a request aborted before it starts is not sent', async () => {
  const { url, connections } = await serveHttp((_request, response) => void response.end())
  expect(await thrown(httpFetch()(url, { signal: AbortSignal.abort() }))).toEqual(ABORTED)
  expect(connections.size).toBe(0)
})

test('an abort closes the connection while waiting for the response', async () => {
  const abort = new AbortController()
  const { url, firstClosed } = await serveHttp(() => abort.abort())
  expect(await thrown(httpFetch()(url, { signal: abort.signal }))).toEqual(ABORTED)
  expect(await firstClosed).toBe('closed')
})

test('an abort closes the connection while the body arrives', async () => {
  const abort = new AbortController()
  const { url, firstClosed } = await serveHttp((_request, response) => void response.write('first'))
  const answer = await httpFetch()(url, { signal: abort.signal })
  const chunks = answer.body?.[Symbol.asyncIterator]()
  expect(await chunks?.next()).toMatchObject({ done: false })
  const second = thrown(Promise.resolve(chunks?.next()))
  abort.abort()
  expect(await second).toEqual(ABORTED)
  expect(await firstClosed).toBe('closed')
})

test('cancelling the body closes the connection', async () => {
  const { url, firstClosed } = await serveHttp((_request, response) => void response.write('first'))
  const answer = await httpFetch()(url)
  await answer.body?.cancel()
  expect(await firstClosed).toBe('closed')
})

test('an unreachable server is reported with the system error code', async () => {
  const { url, stop } = await serveHttp(() => {})
  stop()
  expect(await thrown(httpFetch()(url))).toEqual({ name: 'HttpFailure', code: 'ECONNREFUSED' })
})

test('a connection that breaks before or during the response is reported with its code and not retried', async () => {
  const reset = { name: 'HttpFailure', code: 'ECONNRESET' }
  const silent = await serveBytes('', (socket) => socket.resetAndDestroy())
  expect(await thrown(httpFetch()(silent.url))).toEqual(reset)
  expect(silent.connections.size).toBe(1)
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'
  for (const end of [(s: Socket) => s.resetAndDestroy(), (s: Socket) => s.end()]) {
    const broken = await serveBytes(head, end)
    const answer = await httpFetch()(broken.url)
    expect(await thrown(read(answer.body))).toEqual(reset)
    expect(broken.connections.size).toBe(1)
  }
})

test('a reused connection that breaks before the response is a failure', async () => {
  const { url, connections } = await serveHttp((request, response) => {
    if (request.url === '/1') response.end()
    else request.socket.resetAndDestroy()
  })
  const fetch = httpFetch()
  await (await fetch(`${url}1`)).text()
  expect(await thrown(fetch(`${url}2`))).toEqual({ name: 'HttpFailure', code: 'ECONNRESET' })
  expect(connections.size).toBe(1)
})

test('invalid HTTP and an invalid status are failures', async () => {
  const garbage = await serveBytes('SSH-2.0-server\r\n')
  expect(await thrown(httpFetch()(garbage.url))).toMatchObject({
    name: 'HttpFailure',
    code: expect.stringMatching(/^HPE_/),
  })
  const strange = await serveBytes('HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n')
  expect(await thrown(httpFetch()(strange.url))).toEqual({
    name: 'HttpFailure',
    code: 'ERR_HTTP_INVALID_ANSWER',
  })
})

test('a handshake with a server that speaks plain http fails with a code', async () => {
  const { url } = await serveHttp(() => {})
  expect(await thrown(httpFetch()(url.replace('http:', 'https:')))).toMatchObject({
    name: 'HttpFailure',
    code: expect.stringMatching(/^(EPROTO|ERR_SSL\w+|ECONNRESET)$/),
  })
})

test('connecting times out, including the handshake', async () => {
  let fire = () => {}
  let notify = () => {}
  let cancelled = 0
  const clock: Clock = {
    ...systemClock,
    after: (_ms, then) => {
      fire = then
      return () => void (cancelled += 1)
    },
  }
  const connected = new Promise<void>((resolve) => {
    notify = resolve
  })
  const { url, firstClosed } = await serveBytes('', () => notify())
  const answer = thrown(httpFetch({ clock })(url.replace('http:', 'https:')))
  await connected
  fire()
  expect(await answer).toEqual({ name: 'HttpFailure', code: 'ETIMEDOUT' })
  expect(await firstClosed).toBe('closed')
  expect(cancelled).toBeGreaterThan(0)
})

test('the connect timeout ends once connected, however long the response takes', async () => {
  const fired: (() => void)[] = []
  const live = new Set<() => void>()
  const clock: Clock = {
    ...systemClock,
    after: (_ms, then) => {
      fired.push(then)
      live.add(then)
      return () => void live.delete(then)
    },
  }
  let atRequest: unknown
  const { url } = await serveHttp((_request, response) => {
    atRequest = { set: fired.length, live: live.size }
    response.end('late')
  })
  expect(await (await httpFetch({ clock })(url)).text()).toBe('late')
  expect(atRequest).toEqual({ set: 1, live: 0 })
})

test('an idle connection does not keep the process alive', async () => {
  const { url } = await serveHttp((_request, response) => void response.end('x'))
  const bundle = await bundleScript(new URL('http.ts', import.meta.url), await freshFolder())
  const script = `
    const { httpFetch } = await import(${JSON.stringify(pathToFileURL(bundle).href)})
    const held = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP'))
    const answer = await httpFetch()(${JSON.stringify(url)})
    const during = held()
    await answer.text()
    await new Promise((resolve) => setImmediate(resolve))
    console.log(JSON.stringify([during, held()]))`
  const args = ['--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe('[["TCPSocketWrap"],[]]\n')
})
