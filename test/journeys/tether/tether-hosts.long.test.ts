// Programs that come and go while Instances work, over the routes of the server and with real guests.
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { openFakeTether, type FakeTether } from '../../support/tether/fake-tether.ts'
import { done, userMessage } from '../../support/tether/frames.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { localServer } from '../../support/http/local-server.ts'
import { picture } from '../../support/resources/sample-files.ts'
import { openStream } from '../../support/http/stream-client.ts'
import { tetherHost } from '../../support/tether/tether-host.ts'
import { recordsPath } from '../../../src/host/files/records.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

test.runIf(canNest)(
  'a host that sends and dies finds the answer with the same cursor, also on the next server',
  async () => {
    const first = await tetherHost()
    await first.create('boat')
    const { ingress_seq } = await first.say('boat', 'm1', 'What happened?')
    await first.running.close()
    const second = await tetherHost({ root: first.root })
    const end = await second.answer('boat', 'm1', ingress_seq)
    expect(end).toMatchObject({ type: 'assistant.done', in_reply_to: 'm1' })
    // Sent again, because the host does not know whether it arrived: it runs once.
    expect(await second.say('boat', 'm1', 'What happened?')).toMatchObject({ ingress_seq })
    const { body } = await second.api('GET', '/v1/instances/boat/tether/poll?after_seq=0&limit=200')
    const { frames } = body as { frames: readonly Frame[] }
    const ends = frames.filter(({ type }) => type === 'assistant.done' || type === 'error')
    expect(ends).toEqual([end])
    const numbers = frames.map(({ seq }) => seq)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  },
)

test.runIf(canNest)(
  'two hosts on one Instance see the same frames, each in its own conversation too',
  async () => {
    const host = await tetherHost()
    await host.create('boat')
    const path = '/v1/instances/boat/tether/stream?after_seq=0&types=user.message,assistant.done'
    const [one, two] = [await openStream(host, { path }), await openStream(host, { path })]
    const only = await openStream(host, { path: `${path}&session_id=second` })
    await Promise.all([
      host.say('boat', 'm1', 'What happened?', { session: 'first' }),
      host.say('boat', 'm2', 'What happened?', { session: 'second' }),
    ])
    for (const stream of [one, two]) await stream.until(() => stream.received.length === 4)
    await only.until(() => only.received.length === 2)
    expect(two.received).toEqual(one.received)
    expect(only.received).toEqual(
      one.received.filter(({ data }) => (data['session'] as { id: string }).id === 'second'),
    )

    // The second host waits for the first in its conversation, and the third takes the place of both.
    const busy = 'Run `until [ -e enough ]; do sleep 0.05; done`'
    await host.say('boat', 'm3', busy, { session: 'first' })
    await host.say('boat', 'm4', 'What happened?', { session: 'first' })
    const { payload, ...frame } = userMessage('m5', { id: 'first' }, 'What happened?')
    const replacing = { ...frame, payload: { ...payload, when_busy: 'replace' } }
    expect((await host.api('POST', '/v1/instances/boat/tether', replacing)).status).toBe(202)
    expect(await host.answer('boat', 'm5')).toMatchObject({ payload: { status: 'completed' } })
    const ends = await Promise.all(['m3', 'm4'].map((name) => host.answer('boat', name)))
    const how = ends.map((end) => {
      if (end.type === 'error') return end.payload.kind
      return end.type === 'assistant.done' ? end.payload.status : end.type
    })
    expect(how).toEqual(['interrupted', 'interrupted'])
  },
)

/** The Log of each Session of an Instance in a workspace. */
async function logsOf(workspace: string, instance: string): Promise<string[]> {
  const folder = join(recordsPath({ workspace, instance }), 'sessions')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ndjson'))
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
}

test.runIf(canNest)(
  'two Instances in one workspace have separate Sessions, and a new workspace hides the old images and Sessions [TI-029] [TI-052]',
  async () => {
    const host = await tetherHost()
    const { workspace, root } = host
    const [one, two] = [
      await host.create('one', { workspace }),
      await host.create('two', { workspace }),
    ]
    await host.ask('one', 'm1', 'What happened?')
    await host.ask('two', 'm1', 'What happened?')
    const [log = ''] = await logsOf(workspace, one)
    expect([await logsOf(workspace, one), await logsOf(workspace, two)]).toMatchObject([
      { length: 1 },
      { length: 1 },
    ])
    const image = await host.put('one', picture(1))
    const at = `/v1/instances/one/blobs/${image.blob}`
    expect((await host.api('GET', at)).status).toBe(200)

    const other = join(root, 'other')
    await mkdir(other)
    const map = (to: string) => host.api('PATCH', '/v1/instances/one', { workspace: to })
    // Its guest runs, without work.
    expect((await host.api('GET', '/v1/instances/one')).body).toMatchObject({ state: 'running' })
    expect((await map(other)).body).toMatchObject({ workspace: other, state: 'stopped' })
    expect((await host.api('GET', at)).status).toBe(410)
    const look = (msg_id: string) =>
      host.api('POST', '/v1/instances/one/tether', {
        ...userMessage(msg_id),
        payload: { text: 'Look', images: [image] },
      })
    expect(await look('m2')).toMatchObject({
      status: 410,
      body: { error: { kind: 'resource_missing' } },
    })
    // The other Instance in that workspace has blobs of its own.
    expect((await host.api('GET', at.replace('one', 'two'))).status).toBe(410)
    await host.ask('one', 'm3', 'What happened?')
    expect(await logsOf(workspace, one)).toEqual([log])
    const [fresh = ''] = await logsOf(other, one)
    expect([fresh.includes('"m1"'), fresh.includes('"m3"')]).toEqual([false, true])

    await map(workspace)
    expect((await host.api('GET', at)).status).toBe(200)
    expect((await look('m4')).status).toBe(202)
    await host.answer('one', 'm4')
    const [continued = '', ...more] = await logsOf(workspace, one)
    expect([continued.startsWith(log), continued.includes('"m4"'), more]).toEqual([true, true, []])
    expect(await logsOf(other, one)).toEqual([fresh])
  },
)

/** Opens a poll on its own connection; resolves to its status and body when it is answered. */
function heldPoll(port: number, token: string, agent: Agent) {
  const path = '/v1/instances/boat/tether/poll?after_seq=1&wait_ms=30000'
  const headers = { authorization: `Bearer ${token}` }
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
      .once('error', reject)
      .end()
  })
}

test('a thousand polls wait at once, the next one releases the oldest, and others are served', async () => {
  let tether: FakeTether | undefined
  const { port, token, api } = await localServer({
    openTether: async (home) => {
      const opened = await openFakeTether(home)
      if (opened.ok) tether = opened.value.tether
      return opened
    },
  })
  await api('POST', '/v1/instances', { handle: 'boat' })
  await api('POST', '/v1/instances/boat/tether', userMessage('m1'))
  const agent = new Agent({ maxSockets: Infinity })
  const waiting = () => tether?.places.waiting
  const oldest = heldPoll(port, token, agent)
  await expect.poll(waiting).toBe(1)
  const more = Array.from({ length: 999 }, () => heldPoll(port, token, agent))
  await expect.poll(waiting, { timeout: 60_000 }).toBe(1_000)
  const last = heldPoll(port, token, agent)
  expect(JSON.parse((await oldest).text)).toMatchObject({ frames: [], timed_out: true })
  expect((await oldest).status).toBe(200)
  expect(waiting()).toBe(1_000)
  expect((await api('GET', '/v1/instances/boat')).status).toBe(200)
  await tether?.says('boat', done('d1', 'm1'))
  const all = await Promise.all([...more, last])
  expect(new Set(all.map(({ text }) => text)).size).toBe(1)
  expect(JSON.parse(all[0]?.text ?? '')).toMatchObject({ frames: [{ msg_id: 'd1' }] })
  expect(waiting()).toBe(0)
  agent.destroy()
})

test('a frame of 64 MB is refused without being read, and forged numbers are not believed', async () => {
  const { port, token, api } = await localServer({ openTether: openFakeTether })
  await api('POST', '/v1/instances', { handle: 'boat' })
  const sent = await new Promise<{ readonly status: number; readonly written: number }>(
    (resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const options = { host: '127.0.0.1', port, path: '/v1/instances/boat/tether', headers }
      let written = 0
      let isOver = false
      const piece = Buffer.alloc(65_536, ' ')
      // Without a length, so that only reading can tell.
      const request = httpRequest({ ...options, method: 'POST' }, (response) => {
        isOver = true
        resolve({ status: response.statusCode ?? 0, written })
        response.resume()
        request.destroy()
      })
      request.on('error', (error) => (isOver ? undefined : reject(error)))
      const write = () => {
        if (isOver || written >= 64_000_000) return void request.end()
        written += piece.length
        request.write(piece, () => setImmediate(write))
      }
      write()
    },
  )
  expect(sent.status).toBe(413)
  expect(sent.written).toBeLessThan(64_000_000)
  for (const [at, seq] of [9_999, 1, -5, Number.MAX_SAFE_INTEGER].entries())
    expect(
      (await api('POST', '/v1/instances/boat/tether', { ...userMessage(`m${at}`), seq })).body,
    ).toMatchObject({ ingress_seq: at + 1 })
})
