import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { NOBODY } from '../../support/cli/program.ts'
import { attackedServer, closed, type AttackedServer } from './server-scene.ts'

const USERS = [
  { name: 'as this user', uid: undefined },
  ...(process.getuid?.() === 0 ? [{ name: 'as an unprivileged user', uid: NOBODY }] : []),
]

const SES = 'ses_01kg8m2q3r4s5t6v7w8x9y0z12'
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** In place of the id of a Session or of a question. */
const IDS = [
  '..',
  '../../home/secret.txt',
  '/etc/passwd',
  `${SES}/../../home/secret`,
  `${SES}\0`,
  `${SES}\n`,
  SES.toUpperCase(),
  '__proto__',
  'constructor',
  'toString',
  '<script>raw</script>',
  '\u001B[31mraw\u202E',
  'a'.repeat(200),
  '',
]

describe.each(USERS)('the turn routes of the local server $name', ({ uid }) => {
  let server: AttackedServer
  let session: string
  let post: (path: string, body: unknown) => ReturnType<AttackedServer['ask']>

  beforeEach(async () => {
    server = await attackedServer(uid)
    post = (path, body) =>
      server.ask({
        method: 'POST',
        path: `/api/harness/${path}`,
        headers: JSON_TYPE,
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
    session = await newSession(server.workspace)
  })

  async function newSession(projectRoot: string): Promise<string> {
    const { body } = await post('session/create', { projectRoot })
    return /ses_[0-9a-z]{26}/.exec(body)?.[0] ?? ''
  }

  /** After an attack, the server runs a Turn as before. */
  async function expectHealthy(): Promise<void> {
    const { status, body } = await post('turn', { sessionId: session, message: 'Hello' })
    expect([status, body.includes('"exitCode":0')]).toEqual([200, true])
  }

  test('a bad id of a Session or a question is answered like an unknown one, and not repeated', async () => {
    await writeFile(join(server.root, 'home', 'secret.txt'), 'hidden content')
    for (const id of IDS) {
      const inPath = encodeURIComponent(id).replaceAll('.', '%2e')
      const answers = [
        await post('turn', { sessionId: id, message: 'Hello' }),
        await post('interrupt', { sessionId: id }),
        await post('permission', { requestId: id, decision: 'allowed' }),
        await post(`session/${inPath}/compact`, {}),
        await server.ask({ path: `/api/harness/session/${inPath}/events` }),
      ]
      expect([id, ...answers.map(({ status }) => status)]).toEqual([id, 404, 404, 404, 404, 404])
      for (const { body } of answers) {
        expect(body).not.toContain('hidden content')
        if (id.length > 12) expect(body).not.toContain(id)
        for (const sent of ['raw', '\u001B', '\u202E']) expect(body).not.toContain(sent)
      }
    }
    for (const id of ['a'.repeat(201), 7, null, [SES], { toString: SES }]) {
      const answers = [
        await post('turn', { sessionId: id, message: 'Hello' }),
        await post('interrupt', { sessionId: id }),
        await post('permission', { requestId: id, decision: 'allowed' }),
      ]
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400])
    }
    await expectHealthy()
  })

  test('hostile bodies are invalid requests, whatever their route', async () => {
    const own = `"sessionId":"${session}"`
    const deep = (open: string, close: string, levels: number) =>
      `${open.repeat(levels)}1${close.repeat(levels)}`
    const turns = [
      `{${own},"message":"Hello","__proto__":{"opts":{"permissionMode":"auto"}}}`,
      `{${own},"message":"Hello","constructor":{"prototype":{"x":1}}}`,
      `{${own},"message":"Hello","opts":{"__proto__":{"permissionMode":"auto"}}}`,
      `{${own},"message":"Hello","opts":{"permissionMode":"everything"}}`,
      `{"__proto__":{${own},"message":"Hello"}}`,
      `{${own},"message":${deep('[', ']', 5_000)}}`,
      `{${own},"message":"Hello","attachments":${deep('[', ']', 200_000)}}`,
      `{${own},"message":"Hello","skills":[{"name":"a","with":[{"id":"b","args":${deep('{"a":', '}', 100)}}]}]}`,
      `{${own},"message":"Hello","attachments":[${Array.from({ length: 101 }, () => '"/a"').join(',')}]}`,
      `{${own},"message":"Hello","attachments":[${'"",'.repeat(1_000_000)}""]}`,
      `{${own},"message":"Hello","skills":[${'{"name":"a"},'.repeat(20)}{"name":"a"}]}`,
      `{${own},"message":"Hello","attachments":["/${'a'.repeat(4_096)}"]}`,
      `{${own},"message":["Hello"]}`,
      `{${own},"message":""}`,
      `{${own},"message":"Hello","idempotencyKey":""}`,
      `{${own},"message":"Hello","idempotencyKey":"${'k'.repeat(129)}"}`,
      `{${own},"message":"Hello","idempotencyKey":{"__proto__":null}}`,
      `{${own},"message":"Hello","idempotencyKey":"\\ud800"}`,
    ]
    for (const body of turns) {
      const start = body.slice(0, 120)
      const { status, body: answer } = await post('turn', body)
      expect([start, status]).toEqual([start, 400])
      expect(answer.length).toBeLessThan(4_000)
      expect(answer).not.toContain('\u001B')
    }
    for (const [path, body] of [
      ['interrupt', `{${own},"__proto__":{"x":1}}`],
      ['permission', '{"requestId":"a","decision":"allowed","__proto__":{"scope":"workspace"}}'],
      ['permission', '{"requestId":"a","decision":"allowed","choice":1e99}'],
      ['permission', '{"requestId":"a","decision":"allowed","scope":"constructor"}'],
      ['permission', '{"requestId":"a"}'],
      [`session/${session}/compact`, '{"dryRun":1}'],
      [`session/${session}/compact`, '{"__proto__":{"dryRun":true}}'],
      [`session/${session}/compact`, deep('[', ']', 5_000)],
    ] as const) {
      expect([path, body.slice(0, 80), (await post(path, body)).status]).toEqual([
        path,
        body.slice(0, 80),
        400,
      ])
    }
    const { body } = await server.ask({ path: `/api/harness/session/${session}` })
    expect(body).toContain('"turns":0')
    expect(body).toContain('"permissionMode":"ask"')
    await expectHealthy()
  })

  test('any text is a key: its Turn runs once, and the key is not repeated', async () => {
    const keys = [
      'a\nb',
      'a\0b',
      '\u001B[2J',
      '\u202E',
      '__proto__',
      '../../a',
      '\r\n\r\nid: 7\n\n',
    ]
    for (const idempotencyKey of keys) {
      const request = { sessionId: session, message: 'Hello', idempotencyKey }
      const first = await post('turn', request)
      const again = await post('turn', request)
      expect([idempotencyKey, first.status, again.status]).toEqual([idempotencyKey, 200, 200])
      expect([first, again].map(({ body }) => body.includes('"repeated":true'))).toEqual([
        false,
        true,
      ])
      for (const { body } of [first, again]) {
        expect(body).not.toContain(idempotencyKey)
        expect(body).not.toContain(JSON.stringify(idempotencyKey))
      }
    }
    const { body } = await server.ask({ path: `/api/harness/session/${session}` })
    expect(body).toContain(`"turns":${keys.length}`)
  })

  test('a Turn is started by JSON of its declared length only', async () => {
    const message = JSON.stringify({ sessionId: session, message: 'Hello' })
    for (const type of ['text/plain', 'text/plain;application/json', 'multipart/form-data', '']) {
      for (const path of ['turn', 'interrupt', 'permission', `session/${session}/compact`]) {
        const { status } = await server.ask({
          method: 'POST',
          path: `/api/harness/${path}`,
          headers: { 'Content-Type': type },
          body: message,
        })
        expect([type, path, status]).toEqual([type, path, 415])
      }
    }
    const lengths: readonly (readonly [string, RegExp])[] = [
      // Cut: the rest is not part of the request.
      [String(message.length - 1), /^HTTP\/1\.1 400 /],
      [String(9 * 1024 * 1024), /^HTTP\/1\.1 413 /],
      ['1e3', /^HTTP\/1\.1 400 /],
      ['-1', /^HTTP\/1\.1 400 /],
      [`${message.length}\r\nContent-Length: 1`, /^HTTP\/1\.1 400 /],
      [`${message.length}\r\nTransfer-Encoding: chunked`, /^HTTP\/1\.1 400 /],
    ]
    for (const [length, expected] of lengths) {
      expect(await server.say(turnRequest(length) + message)).toMatch(expected)
    }
    // The rest never comes: the client gives up, and no Turn starts.
    const waiting = server.connected()
    waiting.write(turnRequest(String(message.length + 1)) + message)
    await server.ask({ path: '/api/harness/limits' })
    waiting.destroy()
    await closed(waiting)
    const { body } = await server.ask({ path: `/api/harness/session/${session}` })
    expect(body).toContain('"turns":0')
    await expectHealthy()
  })

  function turnRequest(length: string): string {
    const { port, token } = server
    return `POST /api/harness/turn HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`
  }

  test('the place from which to watch is a number of an Event, or the request is invalid', async () => {
    const bad = [
      'NaN',
      'Infinity',
      '1e99',
      '-2',
      '-0',
      '+1',
      '1.5',
      '0x10',
      ' 1',
      '1 ',
      '१',
      '',
      '9'.repeat(16),
      '9'.repeat(5_000),
      '__proto__',
      '../../etc/passwd',
    ]
    const path = `/api/harness/session/${session}/events`
    for (const value of bad) {
      const answer = await server.ask({ path: `${path}?after_seq=${encodeURIComponent(value)}` })
      expect([value, answer.status]).toEqual([value, 400])
      if (value.length > 3) expect(answer.body).not.toContain(value)
      // The parser of HTTP removes spaces around a header, and a header is not UTF-8.
      if (value.trim() !== value) continue
      const headers = { 'Last-Event-ID': value }
      const { status } = await server.ask({ path: `${path}?after_seq=-1`, headers })
      expect([value, status]).toEqual([value, 400])
    }
    const later = await opened(`${path}?after_seq=${'9'.repeat(15)}`)
    expect(later.text()).toMatch(/^HTTP\/1\.1 200 /)
    await expectHealthy()
  })

  /** A stream of which the headers have arrived. */
  async function opened(path: string) {
    const { connected, port, token } = server
    const socket = connected()
    let text = ''
    socket.setEncoding('latin1')
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
    await new Promise<void>((resolve) => {
      socket.on('data', (piece: string) => {
        text += piece
        if (text.includes('retry: ')) resolve()
      })
      socket.once('close', () => resolve())
    })
    return { socket, text: () => text }
  }

  test('streams are bounded in number and memory, and leave nothing behind', async () => {
    const { ask, peakMemory } = server
    const path = `/api/harness/session/${session}/events`
    const before = await peakMemory()
    const streams = await Promise.all(Array.from({ length: 1_300 }, () => opened(path)))
    const open = streams.filter(({ text }) => text().startsWith('HTTP/1.1 200 '))
    expect(open.length).toBeGreaterThan(1_100)
    expect(open.length).toBeLessThanOrEqual(1_200)
    expect((await peakMemory()) - before).toBeLessThan(200)
    for (const { socket } of streams) socket.destroy()
    // Until the server has noticed it, their connections count.
    await expect.poll(async () => (await ask({ path: '/api/harness/limits' })).status).toBe(200)
    await expectHealthy()
    // No stream holds the Session: it can be deleted.
    await expect
      .poll(async () => {
        const gone = await ask({ method: 'DELETE', path: `/api/harness/session/${session}` })
        return gone.status
      })
      .toBe(200)
  })

  test('attachments that are not files of the person are refused, and nothing of them is shown', async () => {
    const { root } = server
    const [folder, other] = [join(root, 'files'), join(root, 'other')]
    for (const made of [folder, other]) {
      await mkdir(made)
      if (uid !== undefined) await chown(made, uid, uid)
    }
    const elsewhere = await newSession(other)
    execFileSync('mkfifo', [join(folder, 'pipe.txt')])
    const secret = join(folder, 'secret.txt')
    await writeFile(secret, 'hidden content')
    await chmod(secret, 0o000)
    const paths = [
      '/dev/zero',
      '/dev/stdin',
      '/dev/fd/0',
      '/proc/self/environ',
      '/proc/self/mem',
      '/proc/self/fd/0',
      join(folder, 'pipe.txt'),
      `${folder}/../files/pipe.txt`,
      folder,
      `${folder}/a\0.txt`,
      `${folder}/a\n.txt`,
      `${folder}/\u202Etxt.txt`,
      'notes.txt',
      '../files/secret.txt',
      '',
      `file://${secret}`,
      '~/secret.txt',
      join(root, 'home', 'token'),
      join(other, '.hawser'),
      join(other, '.hawser', 'sessions', `${elsewhere}.ndjson`),
      // A file of another user, if the server runs as `nobody`. Root can read everything.
      ...(uid === undefined && process.getuid?.() === 0 ? [] : [secret]),
    ]
    for (const path of paths) {
      const body = { sessionId: session, message: ' ', attachments: [path] }
      const answer = await post('turn', body)
      expect([path, answer.status, answer.body]).toEqual([
        path,
        400,
        expect.stringContaining('ATTACHMENT_FAILURE'),
      ])
      expect(answer.body).not.toContain('hidden content')
      expect(answer.body).not.toContain(server.token)
    }
    const together = await post('turn', {
      sessionId: session,
      message: 'What is in them?',
      attachments: paths,
    })
    expect(together.status).toBe(200)
    expect(together.body).toContain('"exitCode":0')
    expect(together.body).not.toContain('hidden content')
    await expectHealthy()
  })

  test('a question is answered by its own id only, wherever its Session is', async () => {
    const other = join(server.root, 'other')
    await mkdir(other)
    if (uid !== undefined) await chown(other, uid, uid)
    const elsewhere = await newSession(other)
    const asking = server.connected()
    let text = ''
    const body = JSON.stringify({ sessionId: elsewhere, message: 'Write "a" to a.txt' })
    const asked = new Promise<string>((resolve) => {
      asking.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
        const id = /"requestId":"([^"]+)"/.exec(text)?.[1]
        if (id !== undefined) resolve(id)
      })
    })
    asking.write(turnRequest(String(body.length)) + body)
    const requestId = await asked
    const wrong = [
      { requestId: requestId.slice(0, -1), decision: 'allowed' },
      { requestId: `${requestId}0`, decision: 'allowed' },
      { requestId: requestId.toUpperCase(), decision: 'allowed' },
      { requestId: elsewhere, decision: 'allowed' },
      { requestId: session, decision: 'allowed' },
    ]
    for (const answer of wrong) expect((await post('permission', answer)).status).toBe(404)
    // A client that names another Session cannot answer for it, and a choice must exist.
    const claimed = { requestId, decision: 'allowed', sessionId: session }
    expect((await post('permission', claimed)).status).toBe(400)
    expect((await post('permission', { requestId, choice: 99 })).status).toBe(400)
    expect((await post('interrupt', { sessionId: session })).body).toContain('"interrupted":false')
    const gone = closed(asking)
    expect((await post('permission', { requestId, decision: 'denied' })).status).toBe(200)
    await gone
    expect(text).toContain('"decision":"denied"')
    expect((await post('permission', { requestId, decision: 'allowed' })).status).toBe(409)
    await expectHealthy()
  })
})
