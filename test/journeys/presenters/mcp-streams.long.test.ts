// The process `hawser mcp`: when it starts a server, what it prints, and how it ends. Agents are played by the test.
import { spawn } from 'node:child_process'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { wait } from '../../../src/host/wait.ts'
import type { ImageReference } from '../../../src/model/tether/frame.ts'
import { runCli } from '../../support/cli/cli.ts'
import { openFakeTether, type FakeTether } from '../../support/tether/fake-tether.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { guestProgram, removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { localServer } from '../../support/http/local-server.ts'
import {
  mcpClient,
  TRANSPORTS,
  type ClientName,
  type TransportName,
} from '../../support/presenters/mcp-clients.ts'
import { allowWorkspaces } from '../../support/presenters/mcp-place.ts'
import { mcpProcess, toolCall } from '../../support/presenters/mcp-process.ts'
import { kindOf } from '../../support/presenters/mcp-talk.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import { treeHash } from '../../support/host/tree-hash.ts'
import { value } from '../../support/log/story.ts'
import { virtualClock } from '../../support/host/virtual-clock.ts'

afterAll(removeGuestProgram)

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await wait(systemClock, 20)
}

/** A server with an Instance `a` that the test speaks for. */
async function playedServer(clock: Clock = systemClock) {
  let opened: FakeTether | undefined
  const server = await localServer({
    clock,
    openTether: async (home) => {
      const fake = await openFakeTether(home)
      if (fake.ok) opened = fake.value.tether
      return fake
    },
  })
  const tether = opened
  if (tether === undefined) throw new Error('not opened')
  value(await tether.create({ handle: 'a', workspace: server.workspace }, 'operator'))
  const ids = systemIds(systemClock)
  const answer = (msg_id: string, images: readonly ImageReference[] = []) =>
    tether.says('a', {
      v: 1,
      type: 'assistant.done',
      ts: new Date().toISOString(),
      session: { channel: 'host', id: 'default' },
      msg_id: ids.request(),
      in_reply_to: msg_id,
      payload: { text: 'Done.', status: 'completed', ...(images.length === 0 ? {} : { images }) },
    })
  const ask = async () => {
    const msg_id = ids.request()
    const frame = {
      v: 1,
      type: 'user.message',
      ts: new Date().toISOString(),
      session: { channel: 'host', id: 'default' },
      msg_id,
      payload: { text: 'Well?' },
    } as const
    value(await tether.send('a', frame))
    return msg_id
  }
  const image = async (mebibytes: number, seed: number) => {
    const bytes = Buffer.alloc(mebibytes * 1024 * 1024, seed)
    TINY_IMAGES.png.copy(bytes)
    return value(await tether.putImage('a', { media_type: 'image/png', bytes }))
  }
  return { ...server, tether, answer, ask, image }
}

test('no server is started to list tools; the first call starts one, which outlives the host [TI-132]', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  const stop = async () => JSON.parse((await runCli({ root }, 'down', '--json')).stdout) as object
  onTestFinished(async () => void (await stop()))
  for (const name of ['v2 auto', 'v1'] as const) {
    const client = await mcpClient(name, 'stdio', { root })
    expect(await client.tools()).toContain('tether_send')
    await expect(access(join(root, 'home'))).rejects.toThrow('ENOENT')
    await client.close()
  }
  const env = { HAWSER_PROVIDER: 'rehearsal' }
  const client = await mcpClient('v2 auto', 'stdio', { root }, env)
  const created = await client.call('instance_create', { handle: 'a' })
  expect(created.structuredContent).toMatchObject({ handle: 'a', state: 'stopped' })
  const pid = client.pid() ?? 0
  await client.close()
  await until(() => isGone(pid))
  const status = JSON.parse((await runCli({ root }, 'status', '--json')).stdout) as object
  expect(status).toMatchObject({ running: true })
  const next = await mcpClient('v1', 'stdio', { root }, env)
  const listed = await next.call('instance_list', {})
  expect(listed.structuredContent).toMatchObject({ instances: [{ handle: 'a' }] })
  expect(await stop()).toEqual({ ok: true, stopped: true })
})

test('a reply of 40 MiB of images arrives complete, although the host stopped writing and reads late [TI-070] [TI-135]', async () => {
  const { root, answer, ask, image } = await playedServer()
  const nine = await Promise.all([1, 2, 3, 4].map((seed) => image(9, seed)))
  await answer(await ask(), nine)
  await answer(await ask(), [await image(4, 5)])
  await answer(await ask(), [await image(1, 6)])
  const host = await mcpProcess(root)
  host.send(toolCall(1, 'tether_read', { instance: 'a' }))
  host.send(toolCall(2, 'tether_read', { instance: 'a', after_seq: 5 }))
  host.child.stdin?.end()
  // More than a pipe holds has been written by now, and waits.
  await new Promise((resolve) => void host.child.stdout?.once('readable', resolve))
  const lines = (await host.output()).split('\n')
  expect(await host.ended).toBe(0)
  expect(lines.pop()).toBe('')
  const replies = lines.map((line) => JSON.parse(line) as Reply).sort((a, b) => a.id - b.id)
  expect(replies.map(({ id, result }) => [id, pictures(result)])).toEqual([
    [1, [...nine.map(({ size }) => size), 4 * 1024 * 1024]],
    [2, [1024 * 1024]],
  ])
  // The page ended before the frame that would have exceeded the limit.
  expect(replies[0]?.result.structuredContent).toMatchObject({ next_seq: 5 })
})

interface Reply {
  readonly id: number
  readonly result: {
    readonly content: readonly { readonly type: string; readonly data?: string }[]
    readonly structuredContent: object
  }
}

function pictures({ content }: Reply['result']): readonly number[] {
  return content.flatMap(({ data }) =>
    data === undefined ? [] : [Buffer.from(data, 'base64').length],
  )
}

test('what anything else prints goes to standard error [TI-135]', async () => {
  const { root } = await playedServer()
  const script = `const { parse } = JSON; JSON.parse = (...a) => { console.log('stray'); process.stdout.write('print'); return parse(...a) }`
  // Loaded with `require`, because Node itself calls `JSON.parse` when it imports the program.
  await writeFile(join(root, 'stray.cjs'), script)
  const host = await mcpProcess(root, { NODE_OPTIONS: `--require=${join(root, 'stray.cjs')}` })
  host.send(toolCall(1, 'instance_list', {}))
  host.child.stdin?.end()
  const [line = '', ...rest] = (await host.output()).split('\n')
  expect([(JSON.parse(line) as Reply).id, rest]).toEqual([1, ['']])
  expect(await host.ended).toBe(0)
  expect(host.errors()).toMatch(/stray\nprint/)
})

test('when the host is killed, nothing of it is left, and its read no longer waits [TI-133] [TI-135]', async () => {
  const { root, tether } = await playedServer()
  const [command, program = ''] = (await guestProgram()).argv
  const call = JSON.stringify(toolCall(1, 'tether_read', { instance: 'a', wait_ms: 30_000 }))
  const script = `const child = require('node:child_process').spawn(process.execPath, [${JSON.stringify(program)}, 'mcp'], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.write(${JSON.stringify(`${call}\n`)})
    console.log(child.pid)`
  const host = spawn(command, ['--eval', script], {
    cwd: join(root, 'workspace'),
    env: { PATH: process.env['PATH'], HAWSER_HOME: join(root, 'home') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void host.kill('SIGKILL'))
  const pid = Number(
    await new Promise<string>(
      (resolve) => void host.stdout.once('data', (text) => resolve(`${text}`)),
    ),
  )
  await until(() => tether.places.waiting === 1)
  host.kill('SIGKILL')
  await until(() => isGone(pid))
  await until(() => tether.places.waiting === 0)
  expect(isGone(pid)).toBe(true)
})

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

// Over HTTP, clients of earlier revisions cancel by another request.
const CANCELLING: readonly (readonly [ClientName, TransportName])[] = TRANSPORTS.flatMap((way) => [
  ['v2 auto', way] as const,
  ['v2 legacy', way] as const,
  ['v1', way] as const,
])

test.each(CANCELLING)(
  'a read that the client %s cancels over %s frees its place, and that of another host continues [TI-133]',
  async (name, transport) => {
    const place = await playedServer()
    const hosts = await Promise.all([1, 2].map(() => mcpClient(name, transport, place)))
    const abort = new AbortController()
    const [read, other] = hosts.map((host, at) =>
      host
        .call(
          'tether_read',
          { instance: 'a', wait_ms: 30_000 },
          at === 0 ? { signal: abort.signal } : {},
        )
        .catch(() => 'cancelled'),
    )
    await until(() => place.tether.places.waiting === 2)
    abort.abort()
    await until(() => place.tether.places.waiting === 1)
    expect(await read).toBe('cancelled')
    await place.answer(await place.ask())
    expect(await other).toMatchObject({ structuredContent: { frames: [{ seq: 2 }] } })
    for (const host of hosts)
      expect(kindOf(await host.call('instance_info', { instance: 'a' }))).toBeUndefined()
  },
)

test.each(['v2 auto', 'v1'] as const)(
  'over HTTP, a read frees its place when the client %s is gone',
  async (name) => {
    const place = await playedServer()
    const client = await mcpClient(name, 'HTTP', place)
    const read = client.call('tether_read', { instance: 'a', wait_ms: 30_000 }).catch(() => 'gone')
    await until(() => place.tether.places.waiting === 1)
    await client.close()
    await until(() => place.tether.places.waiting === 0)
    expect(await read).toBe('gone')
  },
)

test.each(['v2 auto', 'v2 legacy', 'v1'] as const)(
  'over HTTP, the client %s gets progress while its read waits',
  async (name) => {
    const clock = virtualClock()
    const place = await playedServer(clock)
    const client = await mcpClient(name, 'HTTP', place)
    const reported: number[] = []
    const onprogress = ({ progress }: { readonly progress: number }) => void reported.push(progress)
    const args = { instance: 'a', wait_ms: 30_000 }
    const read = client.call('tether_read', args, { onprogress })
    await until(() => place.tether.places.waiting === 1)
    for (const seconds of [5, 10]) {
      clock.advance(5_000)
      await until(() => reported.includes(seconds))
    }
    await place.answer(await place.ask())
    expect(await read).toMatchObject({ structuredContent: { frames: [{ seq: 2 }] } })
    expect(reported).toEqual([5, 10])
  },
)

test('a host that died reads the answer with the same cursor, and so does another host [TI-134]', async () => {
  const place = await playedServer()
  const first = await mcpClient('v2 auto', 'stdio', place)
  const sent = await first.call('tether_send', { instance: 'a', text: 'Well?' })
  const { msg_id, ingress_seq } = sent.structuredContent
  process.kill(first.pid() ?? 0, 'SIGKILL')
  await place.answer(String(msg_id))
  const cursor = { instance: 'a', after_seq: ingress_seq, reply_to_msg_id: msg_id }
  const reads = await Promise.all(
    (
      [
        ['v2 auto', 'stdio'],
        ['v1', 'HTTP'],
      ] as const
    ).map(async ([name, transport]) =>
      (await mcpClient(name, transport, place)).call('tether_read', cursor),
    ),
  )
  for (const { structuredContent } of reads)
    expect(structuredContent).toMatchObject({ frames: [{ payload: { text: 'Done.' } }] })
})

test('what a program may not do is refused with a kind on both transports, and nothing is written [TI-136]', async () => {
  const root = await freshFolder()
  await allowWorkspaces(root)
  const place = await localServer({ root })
  const client = await mcpClient('v2 auto', 'HTTP', place)
  const other = await mcpClient('v1', 'stdio', place)
  await client.call('instance_create', { handle: 'a' })
  await client.call('instance_create', { handle: 'off' })
  await place.api('POST', '/v1/instances/off/disable')
  // The first read opens the log of its frames.
  await client.call('tether_read', { instance: 'a', wait_ms: 0 })
  const logs = [join(root, 'home/logs')]
  const before = await treeHash(root, logs)
  const png = { media_type: 'image/png', data: TINY_IMAGES.png.toString('base64') }
  const cases: readonly (readonly [string, object, string])[] = [
    ['instance_create', { handle: 'b', workspace: place.workspace }, 'outside_workspace'],
    [
      'instance_create',
      { handle: 'b', workspace: join(root, 'works/../workspace') },
      'outside_workspace',
    ],
    ['instance_create', { handle: 'b', workspace: join(root, 'works/none') }, 'not_found'],
    ['instance_create', { handle: 'b', workspace: 'works' }, 'invalid_args'],
    ['instance_create', { handle: 'b', isolation: 'process' }, 'invalid_args'],
    ['instance_create', { handle: 'a' }, 'invalid_args'],
    ['instance_create', { handle: '../b' }, 'invalid_args'],
    ['tether_send', { instance: 'none', text: 'x' }, 'not_found'],
    ...['.', '..', 'a/..', '../../etc/passwd'].map(
      (instance) => ['tether_send', { instance, text: 'x' }, 'not_found'] as const,
    ),
    ['tether_send', { instance: 'none', text: 'x', images: [png] }, 'not_found'],
    ['tether_send', { instance: 'off', text: 'x' }, 'instance_disabled'],
    ['tether_send', { instance: 'off', text: 'x', images: [png] }, 'instance_disabled'],
    [
      'tether_send',
      { instance: 'a', text: 'x', images: [{ ...png, data: 'a-b_' }] },
      'invalid_args',
    ],
    [
      'tether_send',
      { instance: 'a', text: 'x', images: [{ ...png, media_type: 'image/gif' }] },
      'type_mismatch',
    ],
    [
      'tether_send',
      { instance: 'a', text: 'x', images: [{ ...png, media_type: 'image/svg+xml' }] },
      'unsupported_type',
    ],
    ['tether_send', { instance: 'a', text: 'x', images: [png, png, png, png, png] }, 'too_large'],
    ['tether_read', { instance: 'none' }, 'not_found'],
    ['tether_read', { instance: '..' }, 'not_found'],
    ['instance_info', { instance: '..' }, 'not_found'],
    ['instance_stop', { instance: '..' }, 'not_found'],
    ['tether_read', { instance: 'a', after_seq: 1_000_000 }, 'invalid_args'],
    ['instance_start', { instance: 'off' }, 'instance_disabled'],
  ]
  for (const [tool, args, kind] of cases)
    for (const host of [client, other])
      expect([tool, args, kindOf(await host.call(tool, args))]).toEqual([tool, args, kind])
  expect(await treeHash(root, logs)).toBe(before)
})

test('over HTTP, a request needs the token, a local host and no other origin, and has a limit', async () => {
  const { origin, token, api } = await localServer()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
  }
  const post = async (more: object, sent: string | Buffer = body) =>
    (await fetch(`${origin}/mcp`, { method: 'POST', headers: { ...headers, ...more }, body: sent }))
      .status
  expect(await post({})).toBe(200)
  expect(await post({ authorization: 'Bearer wrong' })).toBe(401)
  expect(await post({ origin: 'https://example.com' })).toBe(403)
  expect(await post({ 'content-type': 'text/plain' })).toBe(415)
  expect(await post({}, Buffer.alloc(64 * 1024 * 1024 + 1, 'a'))).toBe(413)
  expect((await api('GET', '/mcp')).status).toBe(405)
})
