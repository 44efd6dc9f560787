import { once } from 'node:events'
import { chmod, chown, mkdir, symlink, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { NOBODY, startProgram, whyNotAsNobody } from '../../support/cli/program.ts'
import { RAW_REQUESTS } from './raw-requests.ts'
import { attackedServer, closed, type AttackedServer } from './server-scene.ts'

const cannotBeNobody = (await whyNotAsNobody()) !== undefined

const ROUTES = [
  ['GET', '/api/harness/limits'],
  ['GET', '/api/harness/models'],
  ['GET', '/api/harness/session/list?projectRoot=/'],
  ['GET', '/api/harness/session/ses_01kg8m2q3r4s5t6v7w8x9y0z12'],
  ['DELETE', '/api/harness/session/ses_01kg8m2q3r4s5t6v7w8x9y0z12'],
  ['POST', '/api/harness/session/create'],
  ['PUT', '/api/harness/attachments?name=a.txt'],
  ['POST', '/api/harness/attachments/check'],
  [
    'GET',
    '/api/harness/session/ses_01kg8m2q3r4s5t6v7w8x9y0z12/resources/res_01kg8m2q3r4s5t6v7w8x9y0z12',
  ],
  ['POST', '/api/harness/turn'],
  ['POST', '/api/harness/interrupt'],
  ['POST', '/api/harness/permission'],
  ['GET', '/api/harness/session/ses_01kg8m2q3r4s5t6v7w8x9y0z12/events'],
  ['POST', '/api/harness/session/ses_01kg8m2q3r4s5t6v7w8x9y0z12/compact'],
  ['GET', '/api/harness/turn'],
  ['POST', '/'],
  ['OPTIONS', '/api/harness/limits'],
  ['TRACE', '/api/harness/limits'],
] as const

const USERS = [
  { name: 'as this user', uid: undefined },
  ...(process.getuid?.() === 0 ? [{ name: 'as an unprivileged user', uid: NOBODY }] : []),
]

describe.each(USERS)('the local server $name', ({ uid }) => {
  /** Shared by the tests that leave it as it was. */
  let server: AttackedServer
  let end = () => {}
  beforeAll(async () => {
    // In here it is too late for `afterAll`: vitest would ignore it, and the server would outlive the tests.
    server = await attackedServer(uid, (kill) => (end = kill))
  })
  afterAll(() => end())

  test('refuses every route without the exact token', async () => {
    const { token, ask } = server
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      `Bearer ${token.slice(1)}`,
      `Bearer ${token}x`,
      `Bearer ${token} x`,
      `Bearer ${token.toLowerCase()}`,
      `Basic ${token}`,
      token,
    ]
    for (const [method, path] of ROUTES) {
      const { status } = await ask({ method, path, headers: { Authorization: '' } })
      expect([method, path, status]).toEqual([method, path, 401])
    }
    for (const Authorization of wrong) {
      const { status, body } = await ask({
        path: '/api/harness/limits',
        headers: { Authorization },
      })
      expect([Authorization, status]).toEqual([Authorization, 401])
      expect(body).not.toContain(token)
    }
    const elsewhere = { Authorization: '', Cookie: `token=${token}` }
    const path = `/api/harness/limits?token=${token}`
    expect((await ask({ path, headers: elsewhere })).status).toBe(401)
    expect((await ask({ path: '/api/harness/limits' })).status).toBe(200)
  })

  test('refuses the host names and origins of other sites, even with the token', async () => {
    const { ask, port } = server
    const hosts = [
      'evil.example',
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `127.0.0.2:${port}`,
      'localhost',
      '127.0.0.1:1',
    ]
    for (const Host of hosts) {
      for (const path of ['/', '/healthz', '/api/harness/limits']) {
        expect([Host, path, (await ask({ path, headers: { Host } })).status]).toEqual([
          Host,
          path,
          403,
        ])
      }
    }
    const origins = [
      'http://evil.example',
      'null',
      `http://localhost:${port}.evil.example`,
      `http://localhost:${port}0`,
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}@evil.example`,
    ]
    for (const Origin of origins) {
      for (const method of ['GET', 'OPTIONS', 'POST']) {
        const { status, body } = await ask({
          method,
          path: '/api/harness/limits',
          headers: { Origin },
        })
        expect([Origin, method, status]).toEqual([Origin, method, 403])
        expect(body.toLowerCase()).not.toContain('access-control')
      }
    }
    const Origin = `http://127.0.0.1:${port}`
    expect((await ask({ path: '/api/harness/limits', headers: { Origin } })).status).toBe(200)
  })

  test('refuses a WebSocket without the token, long headers, and targets that are not paths', async () => {
    const { ask, say, port } = server
    const Upgrade = 'websocket'
    const upgrade = { Upgrade, Connection: 'Upgrade', 'Sec-WebSocket-Version': '13' }
    const socket = await ask({
      path: '/api/harness/limits',
      headers: { ...upgrade, Connection: 'Upgrade, close', Authorization: '' },
    })
    expect(socket.status).toBe(401)
    const absolute = `GET http://evil.example/api/harness/limits HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`
    expect(await say(absolute)).toMatch(/^HTTP\/1\.1 400 /)
    const twice = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`
    expect(await say(twice)).toMatch(/^HTTP\/1\.1 4\d\d /)
    const long = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`
    expect(await say(long)).toMatch(/^HTTP\/1\.1 431 /)
  })

  test('reads a request in one way only, and refuses what could be read in two', async () => {
    const { say, port, token } = server
    const parts = { host: `127.0.0.1:${port}`, token }
    const answered: (readonly [string, string])[] = []
    for (const [name, request] of RAW_REQUESTS) {
      const statuses = [...(await say(request(parts))).matchAll(/HTTP\/1\.1 (\d{3}) /g)]
      answered.push([name, statuses.map(([, status]) => status).join(' ')])
    }
    expect(answered).toEqual(RAW_REQUESTS.map(([name, , expected]) => [name, expected]))
  })

  test('takes JSON only as JSON', async () => {
    const { ask, workspace } = server
    const body = JSON.stringify({ projectRoot: workspace })
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'text/plain; application/json',
      'application/json; charset=utf-16',
      '',
    ]
    for (const type of types) {
      const headers = { 'Content-Type': type }
      const { status } = await ask({
        method: 'POST',
        path: '/api/harness/session/create',
        headers,
        body,
      })
      expect([type, status]).toEqual([type, 415])
    }
  })

  test('treats hostile JSON as an invalid request', async () => {
    const { ask, workspace } = server
    const projectRoot = JSON.stringify(workspace)
    const bodies = [
      `{"projectRoot":${projectRoot},"__proto__":{"mode":"plan"}}`,
      `{"projectRoot":${projectRoot},"constructor":{"prototype":{"x":1}}}`,
      `{"__proto__":{"projectRoot":${projectRoot}}}`,
      '['.repeat(500_000),
      `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
      `{"projectRoot":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`,
      `{"projectRoot":"\uD800\\u0000"}`,
      '{"projectRoot":9007199254740993}',
      '{"projectRoot":["/"]}',
      'null',
      '',
      '{',
    ]
    for (const body of bodies) {
      const { status } = await ask({
        method: 'POST',
        path: '/api/harness/session/create',
        headers: { 'Content-Type': 'application/json' },
        body,
      })
      expect([body.slice(0, 60), status]).toEqual([body.slice(0, 60), 400])
    }
    const invalidUtf8 = await ask({
      method: 'POST',
      path: '/api/harness/attachments/check',
      headers: { 'Content-Type': 'application/json', 'Content-Length': '14' },
      body: `{"paths":["\u00C3"]}`.slice(0, 13),
    })
    expect(invalidUtf8.status).toBe(400)
  })

  test('confines every id and name to its place', async () => {
    const { ask, root } = server
    await writeFile(join(root, 'home', 'secret.txt'), 'hidden content')
    const ids = [
      '..',
      '.',
      '%2e%2e',
      '%2e%2e%2fsecret.txt',
      '..%2f..%2fhome%2fsecret.txt',
      '..%5csecret.txt',
      'ses_01kg8m2q3r4s5t6v7w8x9y0z12%00',
      'ses_01kg8m2q3r4s5t6v7w8x9y0z12%0a',
      'SES_01KG8M2Q3R4S5T6V7W8X9Y0Z12',
      'ses_01kg8m2q3r4s5t6v7w8x9y0z12%2f..%2f..',
      '%ff%fe',
      '%',
      'a'.repeat(5_000),
    ]
    const res = 'res_01kg8m2q3r4s5t6v7w8x9y0z12'
    const ses = 'ses_01kg8m2q3r4s5t6v7w8x9y0z12'
    for (const id of ids) {
      for (const path of [id, `${id}/resources/${res}`, `${ses}/resources/${id}`]) {
        for (const method of ['GET', 'DELETE']) {
          const answer = await ask({ method, path: `/api/harness/session/${path}` })
          expect([path, method, answer.status]).toEqual([path, method, 404])
          expect(answer.body).not.toContain('hidden content')
        }
      }
      const put = await ask({
        method: 'PUT',
        path: `/api/harness/attachments?name=${id.replace('SES_', '%2fses_')}`,
        body: 'x',
      })
      // A name that is one harmless segment may be stored.
      expect([id, [400, 201].includes(put.status)]).toEqual([id, true])
      if (put.status === 201) expect(id).toMatch(/^(?:%|%ff%fe)$/)
    }
    const relative = await ask({ path: '/api/harness/session/list?projectRoot=../home' })
    expect(relative.status).toBe(400)
  })

  test('bounds connections, and serves others while they are held', async () => {
    const { connected, socket, ask } = await attackedServer(uid)
    const held = Array.from({ length: 1_300 }, connected)
    // A connection can be closed before this process has noticed that it was opened.
    const settled = new Set<Socket>()
    let refused = 0
    await new Promise<void>((resolve) => {
      const settle = (one: Socket) => {
        settled.add(one)
        if (settled.size === held.length && refused > 0) resolve()
      }
      for (const one of held) {
        one.once('connect', () => settle(one))
        one.once('close', () => {
          refused += 1
          settle(one)
        })
      }
    })
    const request = httpRequest({ socketPath: socket, path: '/healthz' })
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).toBe(200)
    for (const one of held) one.destroy()
    // The server closes one connection after the other, and refuses new ones until there is room.
    const status = async () => (await ask({ path: '/api/harness/limits' })).status
    await expect.poll(status, { timeout: 60_000 }).toBe(200)
  })

  test('reads bodies of any size at flat memory', async () => {
    const { ask, connected, port, token, peakMemory } = await attackedServer(uid)
    await ask({ path: '/api/harness/limits' })
    const before = await peakMemory()
    const GIB = 1024 * 1024 * 1024
    const declared = await ask({
      method: 'PUT',
      path: '/api/harness/attachments?name=a.txt',
      headers: { 'Content-Length': String(GIB) },
    })
    expect(declared.status).toBe(413)
    for (const [path, type] of [
      ['/api/harness/attachments?name=a.txt', 'text/plain'],
      ['/api/harness/attachments/check', 'application/json'],
    ]) {
      const method = path?.includes('check') === true ? 'POST' : 'PUT'
      const socket = connected()
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      let received = ''
      socket.setEncoding('latin1').on('data', (piece: string) => (received += piece))
      const gone = closed(socket)
      const piece = Buffer.alloc(1024 * 1024, ' ')
      for (let sent = 0; sent < 1024 && !socket.destroyed; sent++) {
        socket.write(`${piece.length.toString(16)}\r\n`)
        socket.write(piece)
        if (!socket.write('\r\n')) await Promise.race([drained(socket), gone])
      }
      socket.destroy()
      await gone
      expect(received).toMatch(/^HTTP\/1\.1 413 /)
    }
    expect((await peakMemory()) - before).toBeLessThan(96)
  })
})

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('drain', () => resolve()))
}

test.skipIf(cannotBeNobody)('the home of another user is refused', async () => {
  const root = await freshFolder()
  for (const name of ['workspace', 'home']) await mkdir(join(root, name), { mode: 0o700 })
  await chown(join(root, 'home'), NOBODY, NOBODY)
  const { code, stdout } = await runCli({ root }, 'up', '--json')
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { error: { kind: 'permission_denied' } }])
})

test('a link in place of the home, and a home that others can write, are refused', async () => {
  const root = await freshFolder()
  for (const name of ['workspace', 'real']) await mkdir(join(root, name), { mode: 0o700 })
  await symlink(join(root, 'real'), join(root, 'home'))
  const linked = await runCli({ root }, 'up', '--json')
  expect(JSON.parse(linked.stdout)).toMatchObject({ error: { kind: 'not_regular_file' } })
  const shared = await freshFolder()
  await mkdir(join(shared, 'workspace'))
  const env = { HAWSER_HOME: join(shared, 'shared') }
  await mkdir(env.HAWSER_HOME)
  await chmod(env.HAWSER_HOME, 0o777)
  const program = await startProgram({ root: shared, env }, ['up', '--json'])
  expect(await program.ended).toMatchObject({ code: 1 })
  expect(JSON.parse(program.stdout())).toMatchObject({ error: { kind: 'permission_denied' } })
})
