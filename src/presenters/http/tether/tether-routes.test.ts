import { expect, test } from 'vitest'
import { openFakeTether, type FakeTether } from '../../../../test/support/tether/fake-tether.ts'
import { delta, done, userMessage } from '../../../../test/support/tether/frames.ts'
import { localServer } from '../../../../test/support/http/local-server.ts'
import { openStream } from '../../../../test/support/http/stream-client.ts'
import { TINY_IMAGES } from '../../../../test/support/resources/tiny-images.ts'
import { ok } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'

/** A server with one Instance, `boat`. */
async function scene() {
  let tether: FakeTether | undefined
  const server = await localServer({
    openTether: async (home) => {
      const opened = await openFakeTether(home)
      if (opened.ok) tether = opened.value.tether
      return opened
    },
  })
  if (tether === undefined) throw new Error('no tether')
  const created = await server.api('POST', '/v1/instances', { handle: 'boat' })
  const { id } = created.body as { id: string }
  return { ...server, tether, id, created, at: (path: string) => `/v1/instances/boat${path}` }
}

const failure = (kind: string) => ({ ok: false, error: { kind } })

test('Instances are created, listed, shown, controlled and deleted over HTTP', async () => {
  const { api, created, at, id, tether } = await scene()
  expect(created).toMatchObject({
    status: 201,
    body: { ok: true, handle: 'boat', state: 'stopped', enabled: true, isolation: 'sandbox' },
  })
  const again = await api('POST', '/v1/instances?by=mcp', { handle: 'raft', workspace: '/srv' })
  expect([again.status, tether.created]).toEqual([201, [{ by: 'operator' }, { by: 'mcp' }]])
  expect((await api('GET', '/v1/instances')).body).toMatchObject({
    ok: true,
    instances: [{ handle: 'boat' }, { handle: 'raft', workspace: '/srv' }],
  })
  expect((await api('GET', at(''))).body).not.toHaveProperty('workspace')
  const states = []
  for (const act of ['start', 'pause', 'resume', 'stop', 'disable', 'enable']) {
    const { status, body } = await api('POST', at(`/${act}`))
    states.push([status, body])
  }
  expect(states).toMatchObject([
    [200, { state: 'running' }],
    [200, { state: 'paused' }],
    [200, { state: 'running' }],
    [200, { state: 'stopped' }],
    [200, { enabled: false }],
    [200, { enabled: true }],
  ])
  expect(await api('DELETE', at(''))).toMatchObject({ status: 200, body: { deleted: id } })
  expect(await api('GET', at(''))).toMatchObject({ status: 404, body: failure('not_found') })
})

test('every route needs the token, and a page of another origin is refused', async () => {
  const { origin, token } = await scene()
  for (const path of ['/v1/instances', '/v1/instances/boat/tether/poll', '/v1/nowhere']) {
    expect((await fetch(`${origin}${path}`)).status).toBe(401)
    const headers = { authorization: `Bearer ${token}`, origin: 'https://example.com' }
    expect((await fetch(`${origin}${path}`, { headers })).status).toBe(403)
  }
})

test('an Instance is not created from values that are wrong, unknown or taken', async () => {
  const { api } = await scene()
  for (const body of [
    { handle: 'Not a handle' },
    {},
    { handle: 'a', later: 1 },
    { handle: 'a', isolation: 'none' },
    { handle: 'a', idle: { pause_seconds: 0, stop_seconds: 1 } },
    { handle: 'boat' },
  ])
    expect([body, await api('POST', '/v1/instances', body)]).toMatchObject([
      body,
      { status: 400, body: failure('invalid_args') },
    ])
  expect((await api('GET', '/v1/instances')).body).toMatchObject({
    instances: [{ handle: 'boat' }],
  })
})

test('an Instance gets another workspace over HTTP, or none', async () => {
  const { api, at } = await scene()
  expect(await api('PATCH', at(''), { workspace: '/srv' })).toMatchObject({
    status: 200,
    body: { ok: true, handle: 'boat', workspace: '/srv' },
  })
  const bare = await api('PATCH', at(''), { workspace: null })
  expect([bare.status, bare.body]).toEqual([
    200,
    expect.not.objectContaining({ workspace: '/srv' }),
  ])
  for (const body of [
    {},
    { workspace: '' },
    { workspace: 1 },
    { workspace: 'srv' },
    { workspace: 'a'.repeat(5_000) },
    { workspace: '/srv', handle: 'raft' },
    { workspace: '/srv', isolation: 'process' },
  ])
    expect([body, await api('PATCH', at(''), body)]).toMatchObject([
      body,
      { status: 400, body: failure('invalid_args') },
    ])
  expect((await api('PATCH', at('?by=mcp'), { workspace: '/srv' })).status).toBe(400)
  expect((await api('PATCH', '/v1/instances/raft', { workspace: '/srv' })).status).toBe(404)
  expect((await api('GET', at(''))).body).not.toHaveProperty('workspace')
})

test('a frame is stored once, under the number that the server assigns', async () => {
  const { api, at, tether } = await scene()
  const frame = { ...userMessage('m1'), seq: 9_000, instance: 'ins_other' }
  const first = await api('POST', at('/tether'), frame)
  expect([first.status, first.body]).toEqual([
    202,
    { ok: true, msg_id: 'm1', session_id: 'default', ingress_seq: 1 },
  ])
  expect(await api('POST', at('/tether'), frame)).toEqual({
    ...first,
    headers: expect.anything() as unknown,
  })
  await tether.says('boat', done('d1', 'm1'))
  const { body } = await api('GET', at('/tether/poll?after_seq=0'))
  expect(body).toMatchObject({
    frames: [{ msg_id: 'm1', seq: 1 }, { type: 'assistant.done' }],
    timed_out: false,
    first_available_seq: 1,
  })
  await api('POST', at('/disable'))
  expect(await api('POST', at('/tether'), userMessage('m2'))).toMatchObject({
    status: 409,
    body: failure('instance_disabled'),
  })
})

const REFUSED_FRAMES: readonly (readonly [string, object, number])[] = [
  ['a frame of an agent', done('d1', 'm1'), 400],
  ['no frame', {}, 400],
  ['another version', { ...userMessage('m1'), v: 2 }, 400],
  [
    'bytes in an image',
    { ...userMessage('m1'), payload: { text: 'a', images: [{ data: '' }] } },
    400,
  ],
  ['empty text', userMessage('m1', {}, ''), 400],
  ['a long address', userMessage('m1', { channel: 'c'.repeat(129) }), 400],
  ['a long frame', userMessage('m1', {}, 'a'.repeat(LIMITS.frame_bytes)), 413],
]

test('a frame that is not valid is refused, and nothing is stored', async () => {
  const { api, at } = await scene()
  for (const [what, frame, status] of REFUSED_FRAMES)
    expect([what, (await api('POST', at('/tether'), frame)).status]).toEqual([what, status])
  expect((await api('GET', at('/tether/poll'))).body).toMatchObject({ frames: [] })
})

const WRONG_QUERIES = [
  'after_seq=x',
  'after_seq=',
  'after_seq=-1',
  'after_seq=1e3',
  'after_seq=1&after_seq=2',
  'after_seq=1&before_seq=2',
  'after_seq=99',
  'before_seq=0.5',
  'limit=0',
  'limit=201',
  'wait_ms=30001',
  'types=assistant.thought',
  'types=',
  'channel=',
  'colour=red',
]

test('a query that is wrong or unknown is an error, never a default', async () => {
  const { api, at } = await scene()
  for (const query of WRONG_QUERIES)
    expect([query, await api('GET', at(`/tether/poll?${query}`))]).toMatchObject([
      query,
      { status: 400, body: failure('invalid_args') },
    ])
})

test('a poll returns as soon as a frame arrives that matches, and frees its place when its client leaves', async () => {
  const { api, at, tether, origin, token } = await scene()
  await api('POST', at('/tether'), userMessage('m1'))
  const reply = at('/tether/poll?after_seq=1&wait_ms=30000&reply_to_msg_id=m1&types=assistant.done')
  const waiting = api('GET', reply)
  await expect.poll(() => tether.places.waiting).toBe(1)
  await tether.says('boat', delta('d', 'm1'))
  await tether.says('boat', done('d1', 'm1'))
  expect((await waiting).body).toMatchObject({ frames: [{ msg_id: 'd1' }], timed_out: false })
  const leave = new AbortController()
  const headers = { authorization: `Bearer ${token}` }
  const left = fetch(`${origin}${at('/tether/poll?after_seq=3&wait_ms=30000')}`, {
    headers,
    signal: leave.signal,
  })
  await expect.poll(() => tether.places.waiting).toBe(1)
  leave.abort()
  await expect(left).rejects.toThrow('aborted')
  await expect.poll(() => tether.places.waiting).toBe(0)
})

test('a stream replays what is above its cursor, resumes after the last id, and ends with its client', async () => {
  const server = await scene()
  const { api, at, tether } = server
  await api('POST', at('/tether'), userMessage('m1'))
  await api('POST', at('/tether'), userMessage('m2'))
  const first = await openStream(server, { path: at('/tether/stream?after_seq=0') })
  await first.until(() => first.ids.length === 2)
  await tether.says('boat', delta('x', 'm1'))
  await first.until(() => first.ids.length === 3)
  await first.cut()
  await tether.says('boat', done('d1', 'm1'))
  const second = await openStream(server, {
    path: at('/tether/stream?after_seq=0'),
    headers: { 'last-event-id': '3' },
  })
  await second.first('frame')
  const filtered = at('/tether/stream?after_seq=0&types=assistant.done,error')
  const third = await openStream(server, { path: filtered })
  await third.first('frame')
  expect(first.received.map(({ id, data }) => [id, data['msg_id']])).toEqual([
    [1, 'm1'],
    [2, 'm2'],
    [3, 'x'],
  ])
  for (const { received } of [second, third])
    expect(received).toMatchObject([{ id: 4, event: 'frame', data: { msg_id: 'd1' } }])
  for (const query of ['after_seq=x', 'after_seq=500', 'limit=3']) {
    expect((await api('GET', at(`/tether/stream?${query}`))).status).toBe(400)
  }
})

test('a cursor that has expired is 410, and a stream says what is missing', async () => {
  const missing = { kind: 'missing', what: 'deltas', after_seq: 1, through_seq: 7 } as const
  const server = await localServer({
    openTether: async (home) => {
      const opened = await openFakeTether(home)
      if (!opened.ok) return opened
      const { tether, close } = opened.value
      tether.poll = async () => ({
        ok: false,
        error: { kind: 'cursor_expired', message: 'Gone.', details: {}, next_actions: [] },
      })
      tether.follow = async () =>
        ok(
          (async function* () {
            yield missing
            const details = { offset: 4 }
            const error = {
              kind: 'log_damaged',
              message: 'Damaged.',
              details,
              next_actions: [],
            } as const
            yield { kind: 'failed', failure: { ok: false, error } } as const
          })(),
        )
      return ok({ tether, close })
    },
  })
  const { api } = server
  expect(await api('GET', '/v1/instances/boat/tether/poll?after_seq=1')).toMatchObject({
    status: 410,
    body: { error: { kind: 'cursor_expired', type: 'CURSOR_EXPIRED' } },
  })
  const stream = await openStream(server, { path: '/v1/instances/boat/tether/stream' })
  await stream.ended
  const { kind: _, ...data } = missing
  expect(stream.received).toEqual([
    { event: 'missing', id: 7, data },
    {
      event: 'stream:error',
      data: { kind: 'log_damaged', message: 'Damaged.', details: { offset: 4 } },
    },
  ])
})

test('an image is stored by its bytes, and sent as data that no client may keep or sniff', async () => {
  const { origin, token, at, api } = await scene()
  const put = (bytes: Buffer, type?: string) =>
    fetch(origin + at('/blobs'), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      body: new Uint8Array(bytes),
    })
  const stored = await put(TINY_IMAGES.png, 'image/png')
  const reference = (await stored.json()) as { blob: string; size: number }
  expect([stored.status, reference]).toEqual([
    201,
    {
      ok: true,
      media_type: 'image/png',
      blob: expect.stringMatching(/^[a-f0-9]{64}\.png$/) as string,
      size: TINY_IMAGES.png.length,
    },
  ])
  const headers = { authorization: `Bearer ${token}` }
  const found = await fetch(origin + at(`/blobs/${reference.blob}`), { headers })
  expect(Buffer.from(await found.arrayBuffer())).toEqual(TINY_IMAGES.png)
  expect(Object.fromEntries(found.headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
  })
  const statuses = [
    await put(TINY_IMAGES.png, 'image/jpeg'),
    await put(TINY_IMAGES.png, 'image/svg+xml'),
    await put(TINY_IMAGES.png),
    await put(Buffer.from('<svg/>'), 'image/png'),
    await put(Buffer.alloc(LIMITS.attachment_bytes + 1), 'image/png'),
  ].map(({ status }) => status)
  expect(statuses).toEqual([415, 415, 415, 415, 413])
  expect((await api('GET', at('/blobs/..%2f..%2fetc%2fpasswd'))).status).toBe(410)
})
