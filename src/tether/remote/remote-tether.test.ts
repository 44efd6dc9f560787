import { createServer } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openFakeTether, type FakeTether } from '../../../test/support/tether/fake-tether.ts'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { delta, done, userMessage } from '../../../test/support/tether/frames.ts'
import { localServer } from '../../../test/support/http/local-server.ts'
import { value } from '../../../test/support/log/story.ts'
import { TINY_IMAGES } from '../../../test/support/resources/tiny-images.ts'
import { systemClock } from '../../host/clock.ts'
import { diskFolder } from '../../host/files/disk.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { LiveFrame } from '../frames/frame-log.ts'
import { RemoteTether } from './remote-tether.ts'
import { runningServer, startedServer, type ServerPlace } from './started-server.ts'

async function served(root: string, onPort = false) {
  let tether: FakeTether | undefined
  const server = await localServer({
    root,
    openTether: async (home) => {
      const opened = await openFakeTether(home)
      if (opened.ok) tether = opened.value.tether
      return opened
    },
  })
  if (tether === undefined) throw new Error('no tether')
  const home = await diskFolder(join(root, 'home'))
  onTestFinished(() => home.close())
  const find = async (): Promise<Result<ServerPlace>> => {
    const place = await runningServer(home)
    return place.ok && onPort ? ok({ ...place.value, socket: undefined }) : place
  }
  const remote = new RemoteTether({ find, findAgain: find, clock: systemClock })
  return { server, tether, remote, home }
}

test.each([['the socket', false] as const, ['the port', true] as const])(
  'everything that Instances can do works over %s',
  async (_, onPort) => {
    const { tether, remote } = await served(await freshFolder(), onPort)
    const made = value(await remote.create({ handle: 'boat', workspace: '/srv' }, 'mcp'))
    expect(tether.created).toEqual([{ by: 'mcp' }])
    expect(value(await remote.info('boat'))).toEqual(made)
    expect(made).toEqual(value(await tether.info('boat')))
    expect(value(await remote.list())).toEqual([made])
    for (const name of ['.', '..', '../boat', 'a/b'])
      expect(await remote.info(name)).toMatchObject({
        error: { kind: 'not_found', message: 'This Instance does not exist.' },
      })
    expect(value(await remote.act(made.id, 'start'))).toMatchObject({ state: 'running' })
    const text = 'é'.repeat(90_000)
    const sent = value(await remote.send('boat', userMessage('m/1 ?', {}, text)))
    expect(sent).toEqual({ msg_id: 'm/1 ?', session_id: 'default', ingress_seq: 1 })
    await tether.says('boat', done('d1', 'm/1 ?'))
    const page = value(await remote.poll('boat', { reply_to_msg_id: 'm/1 ?', limit: 1 }))
    expect(page).toEqual(value(await tether.poll('boat', { reply_to_msg_id: 'm/1 ?', limit: 1 })))
    const bytes = Buffer.concat([TINY_IMAGES.png, Buffer.alloc(LIMITS.attachment_bytes - 200)])
    const image = { media_type: 'image/png', bytes } as const
    const reference = value(await remote.putImage('boat', image))
    const found = value(await remote.image('boat', reference.blob))
    expect([found.media_type, found.bytes.equals(bytes)]).toEqual(['image/png', true])
    expect(value(await remote.map('boat', 'own'))).toMatchObject({ workspace: 'own' })
    expect(value(await remote.map('boat', null))).not.toHaveProperty('workspace')
    expect(value(await remote.delete('boat'))).toBe(made.id)
    expect(await remote.info('boat')).toEqual(await tether.info('boat'))
  },
)

test.each([
  '',
  '.',
  '..',
  '%2e',
  '%2E%2e',
  './boat',
  '../boat',
  'a/b',
  'a?b',
  'a#b',
  'Boat',
  'ins_1',
  'a\\b',
  'é',
  'a b',
])('the name %j never becomes a part of a URL', async (name) => {
  let asked = 0
  const find = async () => {
    asked += 1
    return failed('network', 'No request may be sent.')
  }
  const remote = new RemoteTether({ find, findAgain: find, clock: systemClock })
  const image = { media_type: 'image/png', bytes: TINY_IMAGES.png } as const
  const refused = [
    await remote.info(name),
    await remote.act(name, 'start'),
    await remote.map(name, null),
    await remote.delete(name),
    await remote.send(name, userMessage('m1')),
    await remote.poll(name, {}),
    await remote.follow(name, 0, {}, AbortSignal.abort()),
    await remote.follow(name, undefined, {}, AbortSignal.abort()),
    await remote.putImage(name, image),
    await remote.image(name, `${'a'.repeat(64)}.png`),
  ]
  for (const one of refused)
    expect(one).toMatchObject({ error: { kind: 'not_found', details: { instance: name } } })
  for (const key of ['', '.', '..', `../${'a'.repeat(64)}.png`, `${'a'.repeat(64)}.svg`])
    expect(await remote.image('boat', key)).toMatchObject({ error: { kind: 'invalid_args' } })
  expect(asked).toBe(0)
})

test('a failure has the same kind, words, details and next steps as in the process of the server', async () => {
  const { tether, remote } = await served(await freshFolder())
  const next = [{ action: 'Enable it.', command: 'hawser instance enable boat' }]
  const refusal = failed('instance_disabled', 'It is disabled.', { id: 'ins_1' }, next)
  tether.send = async () => refusal
  value(await remote.create({ handle: 'boat' }, 'operator'))
  expect(await remote.send('boat', userMessage('m1'))).toEqual(refusal)
  const large = {
    media_type: 'image/png',
    bytes: Buffer.alloc(LIMITS.attachment_bytes + 1),
  } as const
  expect(await remote.putImage('boat', large)).toMatchObject({ error: { kind: 'too_large' } })
})

test('a cancelled poll ends at once and frees its place', async () => {
  const { tether, remote } = await served(await freshFolder())
  value(await remote.create({ handle: 'boat' }, 'operator'))
  const stop = new AbortController()
  const waiting = remote.poll('boat', {}, { waitMs: 30_000, signal: stop.signal })
  await expect.poll(() => tether.places.waiting).toBe(1)
  stop.abort()
  expect(await waiting).toMatchObject({ ok: false, error: { kind: 'interrupted' } })
  await expect.poll(() => tether.places.waiting).toBe(0)
})

test('a live stream continues behind its last frame after the server was restarted', async () => {
  const root = await freshFolder()
  const first = await served(root)
  const { remote } = first
  value(await remote.create({ handle: 'boat' }, 'operator'))
  value(await remote.send('boat', userMessage('before')))
  const stop = new AbortController()
  const frames = value(await remote.follow('boat', undefined, {}, stop.signal))
  const received: LiveFrame[] = []
  const reading = (async () => {
    for await (const frame of frames) received.push(frame)
  })()
  const names = () => received.map((one) => (one.kind === 'frame' ? one.frame.msg_id : one.kind))
  value(await remote.send('boat', userMessage('m1')))
  await first.tether.says('boat', delta('x', 'm1'))
  await expect.poll(names).toEqual(['m1', 'x'])
  await first.server.running.close()
  const second = await served(root)
  await second.tether.says('boat', done('d1', 'm1'))
  value(await remote.send('boat', userMessage('m2')))
  // Numbers of deltas that may have been issued before the restart.
  await expect.poll(names).toEqual(['m1', 'x', 'missing', 'd1', 'm2'])
  stop.abort()
  await reading
})

test('a client that starts the server waits for the one that runs or is starting, and says why none starts', async () => {
  const root = await freshFolder()
  const { home, server } = await served(root)
  const parts = { home, env: {}, clock: systemClock }
  const never = async () => {
    throw new Error('started')
  }
  expect(value(await startedServer({ ...parts, start: never }))).toEqual({
    origin: server.origin,
    socket: join(root, 'home', 'hawserd.sock'),
    token: server.token,
  })
  await server.running.close()
  const refusal = failed('storage_failed', 'The disk is full.', { path: '/x' }, [])
  let starts = 0
  const start = async () => {
    starts += 1
    return ok(JSON.stringify(refusal))
  }
  expect(await startedServer({ ...parts, start })).toEqual(
    failed('storage_failed', 'Cannot start the local server: The disk is full.', { path: '/x' }, [
      { action: 'Start it in this terminal to see why it fails.', command: 'hawser up' },
    ]),
  )
  expect(starts).toBe(3)
  expect(await runningServer(home)).toMatchObject({ error: { kind: 'network' } })
  const loses = async () => {
    await served(root)
    return ok(JSON.stringify(failed('invalid_args', 'The local server is already running.')))
  }
  expect(await startedServer({ ...parts, start: loses })).toMatchObject({ ok: true })
})

test('a server of another kind is not understood', async () => {
  const other = createServer((_, response) => response.end('{"hello":1}')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : 0
  const find = async () => ok({ origin: `http://127.0.0.1:${port}`, token: 't' })
  const remote = new RemoteTether({ find, findAgain: find, clock: systemClock })
  expect(await remote.list()).toMatchObject({ error: { kind: 'invalid_response' } })
})
