import { execFile } from 'node:child_process'
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import { NOBODY } from '../../support/cli/program.ts'
import { attackedServer, closed, type AttackedServer } from './server-scene.ts'

const isRoot = process.getuid?.() === 0
const USERS = [
  { name: 'as this user', uid: undefined },
  ...(isRoot ? [{ name: 'as an unprivileged user', uid: NOBODY }] : []),
]
const CONNECTIONS = 10_000
const AT_ONCE = 2_000
/** Of Debian's `daemon` and of macOS: neither root nor `nobody`. */
const ANOTHER = 1

describe.each(USERS)('the local server $name', ({ uid }) => {
  let server: AttackedServer
  beforeEach(async () => {
    server = await attackedServer(uid)
  })

  function post(path: string, body: unknown, headers = {}) {
    return server.ask({
      method: 'POST',
      path: `/api/harness/${path}`,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  async function newSession(projectRoot = server.workspace): Promise<string> {
    const { body } = await post('session/create', { projectRoot })
    return /ses_[0-9a-z]{26}/.exec(body)?.[0] ?? ''
  }

  async function folder(name: string): Promise<string> {
    const path = join(server.root, name)
    await mkdir(path)
    if (uid !== undefined) await chown(path, uid, uid)
    return path
  }

  test('outlives 10,000 connections, and serves the socket all the time', async () => {
    const { connected, socket, ask, peakMemory } = server
    const onSocket = () =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = httpRequest({ socketPath: socket, path: '/healthz' }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        request.once('error', reject).end()
      })
    const before = await peakMemory()
    for (let made = 0; made < CONNECTIONS; made += AT_ONCE) {
      const held = Array.from({ length: AT_ONCE }, connected)
      let refused = 0
      for (const one of held) {
        one.write('GET /healthz HTTP/1.1\r\n')
        one.once('close', () => (refused += 1))
      }
      // The server keeps 1,200 of them.
      await expect.poll(() => refused, { timeout: 60_000 }).toBeGreaterThanOrEqual(AT_ONCE - 1_200)
      expect(await onSocket()).toBe(200)
      const gone = held.filter(({ destroyed }) => !destroyed).map(closed)
      for (const one of held) one.destroy()
      await Promise.all(gone)
    }
    expect((await peakMemory()) - before).toBeLessThan(128)
    await expect.poll(async () => (await ask({ path: '/api/harness/limits' })).status).toBe(200)
  })

  test('closes connections whose headers come slowly, while others are served', async () => {
    const { connected, port, ask } = server
    const slow = Array.from({ length: 50 }, (_, at) => {
      const connection = connected()
      connection.resume()
      connection.write(
        at % 2 === 0 ? 'GET / HT' : `GET / HTTP/1.1\r\nHost: localhost:${port}\r\nX-Slow: `,
      )
      const drip = setInterval(() => connection.write('a'), 100)
      return closed(connection).finally(() => clearInterval(drip))
    })
    const gone = Promise.all(slow)
    for (let asked = 0; asked < 20; asked += 1) {
      expect((await ask({ path: '/api/harness/limits' })).status).toBe(200)
    }
    expect(await gone).toHaveLength(50)
  })

  test('believes no header about who asks, and opens no WebSocket', async () => {
    const { ask, port } = server
    const claims = [
      { 'X-Forwarded-For': '127.0.0.1', 'X-Real-IP': '127.0.0.1' },
      { Forwarded: 'for=127.0.0.1;host=localhost' },
      { 'X-Forwarded-Host': `127.0.0.1:${port}`, 'X-Forwarded-Proto': 'https' },
      { 'X-Scopes': 'admin', 'X-Role': 'operator', 'X-User': 'root', 'X-Remote-User': 'root' },
      { 'Sec-Fetch-Site': 'same-origin', Referer: `http://127.0.0.1:${port}/` },
      { Cookie: `token=${server.token}; session=${server.token}` },
      { 'Proxy-Authorization': `Bearer ${server.token}`, 'X-Api-Key': server.token },
      { 'X-HTTP-Method-Override': 'GET', 'X-Original-URL': '/healthz' },
    ]
    for (const claim of claims) {
      const { status } = await ask({
        path: '/api/harness/limits',
        headers: { Authorization: '', ...claim },
      })
      expect([claim, status]).toEqual([claim, 401])
    }
    for (const Host of [`127.evil.example:${port}`, `127.0.0.1.:${port}`, `2130706433:${port}`]) {
      const headers = { Host, 'X-Forwarded-Host': `127.0.0.1:${port}` }
      expect([Host, (await ask({ path: '/healthz', headers })).status]).toEqual([Host, 403])
    }
    const id = await newSession()
    const upgrade = {
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    }
    for (const path of ['/', '/healthz', '/api/harness/limits', `/api/harness/session/${id}`]) {
      for (const Origin of ['http://evil.example', 'null', `http://127.0.0.1:${port}`]) {
        const headers = { ...upgrade, Connection: 'Upgrade, close', Origin }
        const { status } = await ask({ path, headers })
        const expected = Origin.endsWith(`1:${port}`) ? 200 : 403
        expect([path, Origin, status]).toEqual([path, Origin, expected])
      }
    }
    // A client cannot give itself a scope, a rule or a program: such fields do not exist.
    for (const more of [
      { scopes: ['admin'] },
      { program: '/bin/sh' },
      { settings: {} },
      { env: {} },
    ]) {
      const body = { projectRoot: server.workspace, ...more }
      expect((await post('session/create', body)).status).toBe(400)
      expect((await post('turn', { sessionId: id, message: 'Hello', ...more })).status).toBe(400)
      expect((await post('turn', { sessionId: id, message: 'Hello', opts: more })).status).toBe(400)
    }
    for (const path of [
      'settings',
      'config',
      'mcp',
      'tools',
      'exec',
      'shell',
      'providers',
      'hooks',
    ]) {
      expect([path, (await post(path, {})).status]).toEqual([path, 404])
      const { status } = await post(path, {}, { Authorization: '' })
      expect([path, status]).toEqual([path, 401])
    }
  })

  test('reads JSON in one way only, and stores no text that is not Unicode', async () => {
    const id = await newSession()
    const own = `"sessionId":"${id}"`
    const bodies = [
      [`{${own},"message":${'['.repeat(5_000_000)}}`, 400],
      [`${'{"a":'.repeat(1_000_000)}1`, 400],
      // Half a character is replaced: the Log and every request are Unicode.
      [`{${own},"message":"half \\ud800"}`, 200],
      [`{${own},"message":"a\\udc00b"}`, 200],
      [`{${own},"message":1e400}`, 400],
      [`{${own},"message":"Hello","opts":{"whenBusy":9007199254740993}}`, 400],
      [`\uFEFF{${own},"message":"Hello"}`, 200],
      [`{${own},"message":"Hello"}{}`, 400],
      [`{${own},"message":"Hello",}`, 400],
      // The last one counts, and there is no second reader that could see the first.
      [`{${own},"message":"First","message":"Second"}`, 200],
    ] as const
    const answered: number[] = []
    for (const [body] of bodies) answered.push((await post('turn', body)).status)
    expect(answered).toEqual(bodies.map(([, expected]) => expected))
    const log = join(server.workspace, '.hawser', 'sessions', `${id}.ndjson`)
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n')
    const messages = lines.flatMap((line) => {
      const { type, data } = JSON.parse(line) as { type: string; data: { text?: string } }
      return type === 'user_message' ? [data.text] : []
    })
    expect(messages).toEqual(['half \uFFFD', 'a\uFFFDb', 'Hello', 'Second'])
  })

  test('keeps workspaces apart: what one has, the other does not', async () => {
    const elsewhere = await folder('elsewhere')
    const notes = join(server.root, 'notes.txt')
    await writeFile(notes, 'mine alone')
    const [mine, other] = [await newSession(), await newSession(elsewhere)]
    const run = await post('turn', { sessionId: mine, message: 'Look', attachments: [notes] })
    const resource = /res_[0-9a-z]{26}/.exec(run.body)?.[0] ?? 'none'
    const get = (id: string, of = resource) =>
      server.ask({ path: `/api/harness/session/${id}/resources/${of}` })
    expect(await get(mine)).toMatchObject({
      status: 200,
      body: expect.stringContaining('mine alone'),
    })
    const wrong = [
      await get(other),
      await get(other, `${resource}?size=64`),
      await get(`${other}%2f..%2f${mine}`),
      await get(other, `..%2f..%2f${mine}%2fresources%2f${resource}`),
    ]
    for (const { status, body } of wrong) {
      expect([status, body.includes('mine alone')]).toEqual([404, false])
    }
    const list = async (path: string) =>
      (await server.ask({ path: `/api/harness/session/list?projectRoot=${path}` })).body
    expect([
      (await list(elsewhere)).includes(mine),
      (await list(elsewhere)).includes(other),
    ]).toEqual([false, true])
    // Its Turns see the files of their own workspace only.
    const asked = await post('turn', { sessionId: other, message: 'List all files' })
    expect([asked.status, asked.body.includes('mine alone')]).toEqual([200, false])
  })

  test.skipIf(!isRoot)(
    'shows another user of the machine neither its socket nor its secrets',
    async () => {
      const { root, port, socket } = server
      const stranger = uid === undefined ? NOBODY : ANOTHER
      const script = `
      const { readFileSync, readdirSync } = require('node:fs')
      const { request } = require('node:http')
      const tried = (work) => { try { return String(work()) } catch (error) { return error.code } }
      const home = ${JSON.stringify(join(root, 'home'))}
      const asked = (place) => new Promise((resolve) => {
        const sent = request({ ...place, path: '/api/harness/limits' }, (answer) => resolve(answer.statusCode))
        sent.on('error', (error) => resolve(error.code)).end()
      })
      const main = async () => ({
        list: tried(() => readdirSync(home)),
        token: tried(() => readFileSync(home + '/token')),
        lock: tried(() => readFileSync(home + '/hawserd.lock')),
        socket: await asked({ socketPath: ${JSON.stringify(socket)} }),
        port: await asked({ host: '127.0.0.1', port: ${port} }),
      })
      main().then((found) => console.log(JSON.stringify(found)))`
      const as = { uid: stranger, gid: stranger, cwd: '/' }
      const { stdout: output } = await promisify(execFile)(process.execPath, ['--eval', script], as)
      expect(JSON.parse(output)).toEqual({
        list: 'EACCES',
        token: 'EACCES',
        lock: 'EACCES',
        socket: 'EACCES',
        // The port is open to every user of the machine, and says nothing without the token.
        port: 401,
      })
    },
  )
})
