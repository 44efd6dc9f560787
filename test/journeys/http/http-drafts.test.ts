import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localServer, serverProgram, type ServedPlace } from '../../support/http/local-server.ts'
import { newSession } from '../../support/http/stream-client.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'

const EMPTY = { mentions: [], skills: [], attachments: [], choices: {}, unconfirmed: [] }

/** A request about the draft, with a condition. */
async function draft(
  { origin, token }: ServedPlace,
  id: string,
  method: string,
  { body, ...conditions }: { body?: object; 'if-match'?: string; 'if-none-match'?: string } = {},
) {
  const answer = await fetch(`${origin}/api/harness/session/${id}/draft`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...conditions,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const parsed = (await answer.json()) as Record<string, unknown>
  return { status: answer.status, tag: answer.headers.get('etag') ?? '', body: parsed }
}

test('a draft is replaced only by a client that knows its version, and 412 has both', async () => {
  const server = await localServer()
  const id = await newSession(server)
  expect(await draft(server, id, 'GET')).toMatchObject({
    status: 200,
    tag: '',
    body: { draft: null },
  })
  const first = await draft(server, id, 'PUT', { body: { text: 'Tie up' } })
  expect(first).toMatchObject({
    status: 200,
    body: { draft: { text: 'Tie up', caret: { start: 0, end: 0 }, ...EMPTY } },
  })
  const changed = { body: { text: 'Tie up at six' }, 'if-match': first.tag }
  const second = await draft(server, id, 'PUT', changed)
  expect([second.status, second.tag === first.tag]).toEqual([200, false])
  for (const condition of [{ 'if-match': first.tag }, {}, { 'if-match': '*' }]) {
    const refused = await draft(server, id, 'PUT', { body: { text: 'Cast off' }, ...condition })
    expect(refused).toMatchObject({
      status: 412,
      body: {
        error: {
          type: 'DRAFT_CHANGED',
          details: {
            present: { tag: second.tag.slice(1, -1), draft: { text: 'Tie up at six' } },
            sent: { text: 'Cast off' },
          },
        },
      },
    })
  }
  expect(await draft(server, id, 'DELETE', { 'if-match': first.tag })).toMatchObject({
    status: 412,
    body: { error: { details: { sent: null } } },
  })
  expect(await draft(server, id, 'DELETE', { 'if-match': second.tag })).toMatchObject({
    status: 200,
    body: { draft: null },
  })
})

test('of many clients that change one version at once, one succeeds', async () => {
  const server = await localServer()
  const id = await newSession(server)
  const { tag } = await draft(server, id, 'PUT', { body: { text: 'a' } })
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      draft(server, id, 'PUT', { body: { text: `b${at}` }, 'if-match': tag }),
    ),
  )
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array(19).fill(412),
  ])
})

test('an acknowledged draft survives a kill of the server', async () => {
  const root = await freshFolder()
  const server = await serverProgram(root)
  const id = await newSession(server)
  const upload = await server.api('PUT', '/api/harness/attachments?name=a.txt', Buffer.from('a'))
  const { path } = upload.body as { path: string }
  const body = {
    text: 'What is in it?',
    caret: { start: 3, end: 5 },
    attachments: [{ path, name: 'a.txt', sizeBytes: 1 }],
    choices: { effort: 'high' },
  }
  const { tag } = await draft(server, id, 'PUT', { body })
  await server.kill()
  const next = await serverProgram(root)
  expect(await draft(next, id, 'GET')).toMatchObject({ tag, body: { draft: body } })
})

test('staged files of a draft and of waiting messages do not expire, and others do', async () => {
  const root = await freshFolder()
  const first = await localServer({ root })
  const id = await newSession(first)
  const paths: string[] = []
  for (const name of ['kept.txt', 'unconfirmed.txt', 'old.txt']) {
    const { body } = await first.api(
      'PUT',
      `/api/harness/attachments?name=${name}`,
      Buffer.from(name),
    )
    paths.push((body as { path: string }).path)
  }
  const [kept = '', unconfirmed = '', old = ''] = paths
  await draft(first, id, 'PUT', {
    body: {
      text: '',
      attachments: [{ path: kept, name: 'kept.txt' }],
      unconfirmed: [
        { messageKey: 'k1', text: 'x', attachments: [{ path: unconfirmed, name: 'u.txt' }] },
      ],
    },
  })
  await first.running.close()
  for (const path of paths) await utimes(path, 0, 0)
  const next = await localServer({ root })
  await expect
    .poll(async () =>
      (await Promise.allSettled(paths.map((path) => stat(path)))).map((s) => s.status),
    )
    .toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(old).not.toBe('')
  await next.running.close()
})

test('a draft is refused for an unknown Session, with unknown fields or bounds, and has no keys', async () => {
  const server = await localServer()
  const id = await newSession(server)
  const { body: deleted } = await server.api(
    'GET',
    `/api/harness/session/${'ses_' + '0'.repeat(26)}/draft`,
  )
  expect(deleted).toMatchObject({ error: { type: 'SESSION_NOT_FOUND' } })
  for (const body of [
    { text: 'a', more: 1 },
    { text: 1 },
    {},
    { text: 'a', attachments: [{ path: '/a' }] },
    { text: 'a', caret: { start: -1, end: 0 } },
    { text: 'a', unconfirmed: [{ messageKey: '', text: 'b' }] },
    { text: 'a'.repeat(1024 * 1024 + 1) },
  ]) {
    expect((await draft(server, id, 'PUT', { body })).status).toBe(400)
  }
  const told = await draft(server, id, 'PUT', { body: { text: `my key ${CANARY_KEY}` } })
  expect(JSON.stringify(told.body)).not.toContain(CANARY_KEY)
  expect((await draft(server, '..%2F..%2Ftoken', 'GET')).status).toBe(404)
})

test('what is not a draft any more is kept beside the next one, and a deleted Session has none', async () => {
  const server = await localServer()
  const id = await newSession(server)
  const folder = join(server.root, 'home', 'drafts')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${id}.json`), '{"text":')
  expect(await draft(server, id, 'GET')).toMatchObject({ status: 200, body: { draft: null } })
  await draft(server, id, 'PUT', { body: { text: 'new' } })
  expect((await readdir(folder)).toSorted()).toEqual([`${id}.json`, `${id}.unreadable`])
  await server.api('DELETE', `/api/harness/session/${id}`)
  expect(await readdir(folder)).toEqual([`${id}.unreadable`])
})
