import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { localServer, type LocalServer } from '../../../test/support/http/local-server.ts'
import { runCli } from '../../../test/support/cli/cli.ts'
import { startProgram } from '../../../test/support/cli/program.ts'
import { TINY_IMAGES } from '../../../test/support/resources/tiny-images.ts'
import { LIMITS } from '../../model/limits.ts'

const SESSION = { sessionId: expect.stringMatching(/^ses_/) as string }

async function created({ api, workspace }: LocalServer, more: object = {}): Promise<string> {
  const { body } = await api('POST', '/api/harness/session/create', {
    projectRoot: workspace,
    ...more,
  })
  return (body as { session: { sessionId: string } }).session.sessionId
}

test('limits and models are served', async () => {
  const { api } = await localServer()
  const { status, body } = await api('GET', '/api/harness/limits')
  expect([status, body]).toMatchObject([
    200,
    { ok: true, limits: { ...LIMITS }, attachmentTypes: expect.arrayContaining(['.png', '.csv']) },
  ])
  expect((await api('GET', '/api/harness/models')).body).toEqual({
    ok: true,
    asOf: '2026-01-31',
    models: [],
    references: {},
  })
})

test('a Session is created, listed, shown and deleted', async () => {
  const server = await localServer()
  const { api, workspace } = server
  const list = `/api/harness/session/list?projectRoot=${encodeURIComponent(workspace)}`
  expect((await api('GET', list)).body).toEqual({ ok: true, sessions: [] })
  const made = await api('POST', '/api/harness/session/create', {
    projectRoot: workspace,
    mode: 'plan',
    permissionMode: 'read-only',
  })
  expect(made).toMatchObject({
    status: 201,
    body: {
      session: {
        ...SESSION,
        projectRoot: workspace,
        provider: 'rehearsal',
        mode: 'plan',
        permissionMode: 'read-only',
        turns: 0,
        busy: false,
      },
    },
  })
  const { session } = made.body as { session: { sessionId: string } }
  expect((await api('GET', list)).body).toEqual({ ok: true, sessions: [session] })
  const one = `/api/harness/session/${session.sessionId}`
  expect((await api('GET', one)).body).toEqual({ ok: true, session })
  expect(await api('DELETE', one)).toMatchObject({
    status: 200,
    body: { deleted: session.sessionId },
  })
  expect(await api('GET', one)).toMatchObject({
    status: 404,
    body: { ok: false, error: { type: 'SESSION_NOT_FOUND', kind: 'not_found' } },
  })
})

test('the command line and the server see the same Sessions', async () => {
  const server = await localServer()
  const id = await created(server)
  const { stdout } = await runCli({ root: server.root }, 'sessions', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ session_id: id }] })
  await runCli({ root: server.root }, 'run', '--session', id, 'Hello')
  expect((await server.api('GET', `/api/harness/session/${id}`)).body).toMatchObject({
    session: { turns: 1, turnOpen: false },
  })
})

test('a Session that another process writes is shown as busy and not deleted', async () => {
  const server = await localServer()
  const id = await created(server, { permissionMode: 'auto' })
  const argv = ['run', '--session', id, '--json', 'Run `sleep 60`']
  const run = await startProgram({ root: server.root }, argv)
  await run.waitFor('"permission_decision"')
  const path = `/api/harness/session/${id}`
  expect((await server.api('GET', path)).body).toMatchObject({
    session: { busy: true, turnOpen: true },
  })
  expect(await server.api('DELETE', path)).toMatchObject({
    status: 409,
    body: { error: { type: 'TURN_IN_PROGRESS', kind: 'session_busy' } },
  })
  run.child.kill('SIGINT')
  await run.ended
  expect((await server.api('DELETE', path)).status).toBe(200)
})

test('a folder is one workspace, whatever its spelling', async () => {
  const server = await localServer()
  const other = join(server.root, 'link')
  await symlink(server.workspace, other)
  const id = await created(server, { projectRoot: other })
  expect((await server.api('GET', `/api/harness/session/${id}`)).body).toMatchObject({
    session: { projectRoot: server.workspace },
  })
})

test.each([
  ['a relative folder', { projectRoot: 'workspace' }, 400, 'INVALID_REQUEST'],
  ['no folder', {}, 400, 'INVALID_REQUEST'],
  ['a missing folder', { projectRoot: '/nowhere/at/all' }, 404, 'NOT_FOUND'],
  ['a file', { projectRoot: '/etc/passwd' }, 400, 'INVALID_REQUEST'],
  ['an unknown field', { projectRoot: '/', program: '/bin/sh' }, 400, 'INVALID_REQUEST'],
  ['an unknown mode', { projectRoot: '/', mode: 'god' }, 400, 'INVALID_REQUEST'],
  ['a list', [], 400, 'INVALID_REQUEST'],
])('a Session is not created with %s', async (_name, body, status, type) => {
  const { api } = await localServer()
  expect(await api('POST', '/api/harness/session/create', body)).toMatchObject({
    status,
    body: { ok: false, error: { type } },
  })
})

test('an unknown provider or model is an error that names it', async () => {
  const { api, workspace: projectRoot } = await localServer()
  const create = (more: object) =>
    api('POST', '/api/harness/session/create', { projectRoot, ...more })
  expect(await create({ provider: 'unknown' })).toMatchObject({
    status: 503,
    body: { error: { type: 'MISSING_API_KEY', kind: 'not_configured' } },
  })
})

test('an upload is staged under its name, examined, and accepted by a later check', async () => {
  const { api, root } = await localServer()
  const put = await api(
    'PUT',
    '/api/harness/attachments?name=Caf%C3%A9%20plan.png',
    TINY_IMAGES.png,
  )
  const staged = {
    name: 'Café plan.png',
    sizeBytes: TINY_IMAGES.png.length,
    mediaType: 'image/png',
  }
  expect(put).toMatchObject({
    status: 201,
    body: { ok: true, ...staged, verdict: { accepted: true, kind: 'image' } },
  })
  const { path } = put.body as { path: string }
  expect(path.startsWith(join(root, 'home', 'staged'))).toBe(true)
  expect((await readFile(path)).equals(TINY_IMAGES.png)).toBe(true)
  expect(((await stat(path)).mode & 0o777).toString(8)).toBe('600')
  const check = await api('POST', '/api/harness/attachments/check', {
    paths: [path, '/nowhere.png'],
  })
  expect(check).toMatchObject({
    status: 200,
    body: {
      verdicts: [
        { path, accepted: true, kind: 'image', sizeBytes: TINY_IMAGES.png.length },
        { path: '/nowhere.png', accepted: false, code: 'not_found' },
      ],
    },
  })
})

test('what a client claims about an upload decides nothing', async () => {
  const { api } = await localServer()
  const put = await api('PUT', '/api/harness/attachments?name=a.png', Buffer.from('not a picture'))
  expect(put).toMatchObject({
    status: 201,
    body: {
      mediaType: 'application/octet-stream',
      verdict: { accepted: false, code: 'type_mismatch' },
    },
  })
})

test('an upload of exactly the limit is kept, and one more byte is refused', async () => {
  const { api } = await localServer()
  const bytes = Buffer.alloc(LIMITS.attachment_bytes + 1, 'a')
  const put = (body: Buffer) => api('PUT', '/api/harness/attachments?name=a.txt', body)
  expect(await put(bytes.subarray(1))).toMatchObject({
    status: 201,
    body: { verdict: { accepted: true } },
  })
  expect(await put(bytes)).toMatchObject({
    status: 413,
    body: { error: { type: 'TOO_LARGE', kind: 'too_large' } },
  })
})

test('an upload that is cut off, by its client or by the end of the server, leaves nothing', async () => {
  const server = await localServer()
  const begin = async () => {
    const socket = connect(server.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write(
      `PUT /api/harness/attachments?name=half.txt HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: 100\r\n\r\nhalf`,
    )
    const staged = join(server.root, 'home', 'staged')
    const isThere = async (there: boolean) =>
      expect
        .poll(async () => (await readdir(staged, FILES)).some((one) => one.isFile()))
        .toBe(there)
    await isThere(true)
    return { socket, isThere }
  }
  const first = await begin()
  first.socket.destroy()
  await first.isThere(false)
  const second = await begin()
  await server.running.close()
  await second.isThere(false)
})

const FILES = { recursive: true, withFileTypes: true } as const

async function withResource(server: LocalServer, name: string, bytes: Uint8Array) {
  const file = join(server.root, name)
  await writeFile(file, bytes)
  const { stdout } = await runCli({ root: server.root }, 'run', '--json', '--attach', file, 'Look')
  const result = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { session_id: string }
  const shown = await runCli({ root: server.root }, 'resources', result.session_id, '--json')
  const { resources } = JSON.parse(shown.stdout) as {
    resources: { descriptor: { resource_id: string } }[]
  }
  const resource = resources[0]?.descriptor.resource_id ?? ''
  return { id: result.session_id, resource }
}

test('a Resource is served as data, with a validator and ranges', async () => {
  const server = await localServer()
  const { id, resource } = await withResource(server, 'notes "é".txt', Buffer.from('0123456789'))
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${server.origin}/api/harness/session/${id}/resources/${resource}`, {
      headers: { authorization: `Bearer ${server.token}`, ...headers },
    })
  const whole = await get()
  expect([whole.status, await whole.text()]).toEqual([200, '0123456789'])
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': `attachment; filename="notes ___.txt"; filename*=UTF-8''notes%20%22%C3%A9%22.txt`,
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
  })
  const etag = whole.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[0-9a-f]{64}"$/)
  expect((await get({ 'if-none-match': etag })).status).toBe(304)
  const part = await get({ range: 'bytes=2-4' })
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
    206,
    'bytes 2-4/10',
    '234',
  ])
  expect((await get({ range: 'bytes=10-' })).status).toBe(416)
  expect((await get({ range: 'bytes=2-4', 'if-range': '"old"' })).status).toBe(200)
})

test('two workspaces of one server cannot see the Resources of each other', async () => {
  const server = await localServer()
  const mine = await withResource(server, 'mine.txt', Buffer.from('mine'))
  const elsewhere = join(server.root, 'elsewhere')
  await mkdir(elsewhere)
  const other = await created(server, { projectRoot: elsewhere })
  const get = (id: string) =>
    server.api('GET', `/api/harness/session/${id}/resources/${mine.resource}`)
  expect((await get(mine.id)).status).toBe(200)
  expect(await get(other)).toMatchObject({ status: 404, body: { error: { type: 'NOT_FOUND' } } })
  const list = `/api/harness/session/list?projectRoot=${encodeURIComponent(elsewhere)}`
  expect((await server.api('GET', list)).body).toMatchObject({ sessions: [{ sessionId: other }] })
})

test('the socket serves the same routes, with the token', async () => {
  const { running, token } = await localServer()
  const get = async (headers: Record<string, string>) => {
    const { socket: socketPath } = running.record
    const request = httpRequest({ socketPath, path: '/api/harness/limits', headers })
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  const authorization = `Bearer ${token}`
  expect([await get({ host: 'x' }), await get({ host: 'x', authorization })]).toEqual([401, 200])
})

test('there is one server per home, and a stopped one leaves only what is kept', async () => {
  const first = await localServer()
  const { root, running } = first
  await expect(localServer({ root })).rejects.toThrow(/^The local server is already running/)
  await running.close()
  await running.close()
  await expect(fetch(`${first.origin}/healthz`)).rejects.toThrow('fetch failed')
  await expect(stat(join(root, 'home', 'hawserd.sock'))).rejects.toThrow('ENOENT')
  const second = await localServer({ root })
  expect(second.token).toBe(first.token)
})

test('the log has one line per request, without the token, keys or queries', async () => {
  const { api, root, token, running } = await localServer()
  await api('GET', `/api/harness/limits?secret=${token}`)
  await api('GET', `/api/harness/${token}`)
  await running.close()
  const text = await readFile(join(root, 'home', 'logs', 'server.ndjson'), 'utf8')
  const lines = text.trimEnd().split('\n')
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { event: 'started', origin: running.record.origin },
    { event: 'request', method: 'GET', path: '/api/harness/limits', status: 200 },
    { event: 'request', path: '/api/harness/[redacted key]', status: 404, error: 'not_found' },
    { event: 'stopping' },
  ])
  expect(text).not.toContain(token)
})

test('every response names its request, and nothing may be cached, framed or sniffed', async () => {
  const { api } = await localServer()
  for (const path of ['/api/harness/limits', '/nowhere']) {
    const { headers } = await api('GET', path)
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^req_\w+_\d+$/) as string,
    })
    expect(headers.has('access-control-allow-origin')).toBe(false)
  }
})
