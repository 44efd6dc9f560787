import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { systemClock } from '../../../src/host/clock.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { wait } from '../../../src/host/wait.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { openReader } from '../../../src/log/reader.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import { LiveHistory } from '../../../src/request/live-history.ts'
import { ok } from '../../../src/model/errors.ts'
import { listSessions } from '../../../src/session/queries/list.ts'
import { verifyRequests } from '../../../src/session/queries/verify-requests.ts'
import { FramePageShape, InstanceInfoShape } from '../../../src/tether/tether-shapes.ts'
import { KilledServer } from '../../faults/tether/daemon-kill-server.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { DIALECTS } from '../../support/providers/dialects.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { userMessage } from '../../support/tether/frames.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { openPartsAt } from '../../support/session/harness-parts.ts'
import { PRICES } from '../../support/tether/relay-place.ts'
import { stepsOf } from '../../support/tether/stopped-place.ts'
import { value } from '../../support/log/story.ts'
import { sseOf, type VendorAnswer } from '../../support/providers/vendor-answer.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

/** Silent: it never answers. Begun: it sends the first piece of a text and is then silent. */
type Part = VendorAnswer | 'silent' | 'begun'

/** A server with an Instance `a`, whose model answers with these, in order. */
async function served(script: readonly Part[]) {
  let asked = 0
  const never = new Promise<void>(() => {})
  const vendor = await scriptedServer(async ({ hungUp }) => {
    const part = script[asked] ?? { text: 'Calm.' }
    asked += 1
    if (part === 'silent') {
      await Promise.race([hungUp, never])
      return 'cut'
    }
    if (part !== 'begun') return { body: sseOf('messages', part) }
    const whole = sseOf('messages', { text: 'The sea is calm today.' }).toString()
    const end = whole.indexOf('\n\n', whole.indexOf('text_delta')) + 2
    return {
      body: (async function* () {
        yield whole.slice(0, end)
        await hungUp
      })(),
    }
  })
  onTestFinished(() => vendor.close())
  const root = await freshFolder()
  const server = new KilledServer(root)
  await mkdir(server.home, { mode: 0o700 })
  await mkdir(server.workspace, { mode: 0o700 })
  const settings = {
    providers: { anthropic: { key: CANARY_KEY, base_url: vendor.baseUrl('messages') } },
    models: { model: { prices: PRICES, window_tokens: 100_000 } },
  }
  await writeFile(join(server.home, 'config.json'), JSON.stringify(settings), { mode: 0o600 })
  onTestFinished(() => server.end('SIGKILL'))
  await start(server)
  const own = { handle: 'a', workspace: server.workspace, provider: 'anthropic', model: 'model' }
  expect(await server.call('POST', '/instances', { body: own })).toMatchObject({ status: 201 })
  const until = async (holds: () => boolean | Promise<boolean>) => {
    while (!(await holds())) await wait(systemClock, 20)
  }
  return { server, vendor, until, asked: () => asked }
}

async function start(server: KilledServer): Promise<void> {
  await server.start()
  expect(await server.ready(), server.complaint).toBe(true)
}

async function framesOf(server: KilledServer, types = ''): Promise<readonly Frame[]> {
  const path = `/instances/a/tether/poll?after_seq=0&limit=200&reply_to_msg_id=m1${types}`
  const answer = await server.call('GET', path)
  return FramePageShape.parse(answer?.body).frames
}

async function send(server: KilledServer): Promise<void> {
  const body = userMessage('m1', { id: 'default' }, 'Is the sea calm?')
  expect(await server.call('POST', '/instances/a/tether', { body })).toMatchObject({ status: 202 })
}

async function endOf(server: KilledServer): Promise<Frame> {
  for (;;) {
    const [end] = await framesOf(server, '&types=assistant.done,error&wait_ms=10000')
    if (end !== undefined) return end
  }
}

const Register = z.object({ instances: z.tuple([z.object({ id: z.string() })]) })

async function idIn({ home }: KilledServer): Promise<string> {
  const register = await readFile(join(home, 'instances/register.json'), 'utf8')
  return Register.parse(JSON.parse(register.slice(register.indexOf('\n')))).instances[0].id
}

/** The Events of the only Session, of which nothing is wrong. */
async function eventsIn(server: KilledServer) {
  const { home, workspace } = server
  const id = await idIn(server)
  const model = { dialectOf: async () => ok(DIALECTS.messages) }
  const own = join(home, 'instances', id, 'home')
  const { parts, close } = await openPartsAt(workspace, own, { model }, id)
  const [listed] = await listSessions(parts.log.place)
  if (listed === undefined) throw new Error('no Session')
  expect(value(await verifyLog(parts.log.place, listed.id))).toMatchObject({ torn_bytes: 0 })
  const reader = value(await openReader(parts.log.place, listed.id))
  const history = new LiveHistory(parts.log.store)
  await history.add(value(await reader.lines()).lines)
  await reader.close()
  expect(value(await verifyRequests(parts, history.events)).mismatches).toEqual([])
  await close()
  return history.events
}

test.runIf(canNest)(
  'a message is answered although the server was killed while the model was silent',
  async () => {
    const { server, vendor, until, asked } = await served(['silent'])
    await send(server)
    await until(() => asked() === 1)
    // What the call may cost is known before it ends.
    const spend = join(server.home, 'instances', await idIn(server), 'spend.json')
    await until(async () => (await readFile(spend, 'utf8').catch(() => '')).includes('running'))
    await server.end('SIGKILL')
    await start(server)
    const end = await endOf(server)
    expect(end).toMatchObject({
      type: 'assistant.done',
      payload: { status: 'completed', text: 'Calm.' },
    })
    expect(vendor.requests.map(({ bytes }) => bytes.toString())).toEqual(
      Array(2).fill(vendor.requests[0]?.bytes.toString()),
    )
    const info = InstanceInfoShape.parse((await server.call('GET', '/instances/a'))?.body)
    expect(info.spend.calls).toBe(2)
    await server.end('SIGTERM')
    const events = await eventsIn(server)
    expect(stepsOf(events).filter((step) => /^(turn_|request|resent)/.test(step))).toEqual([
      'turn_started',
      'request 0.0',
      'resent_after_crash',
      'request 0.1',
      'turn_ended',
    ])
    const ended = events.findLast((event) => event.type === 'turn_ended')
    expect(ended?.data.usage_total).toMatchObject({ calls: 1, unknown_calls: 1 })
  },
)

test.runIf(canNest)(
  'a message of which a piece was shown is not sent again, and its answer tells what is unknown',
  async () => {
    const { server, until, asked } = await served(['begun'])
    await send(server)
    await until(async () => (await framesOf(server)).some(({ type }) => type === 'assistant.delta'))
    await server.end('SIGKILL')
    await start(server)
    expect(await endOf(server)).toMatchObject({
      payload: { status: 'interrupted', text: expect.stringContaining('Unknown: what else') },
    })
    expect(asked()).toBe(1)
    await server.end('SIGTERM')
    expect(stepsOf(await eventsIn(server))).not.toContain('resent_after_crash')
  },
)

test.runIf(canNest)('a message whose tool ran is not sent again', async () => {
  const call = { id: 'c1', name: 'bash', arguments: '{"command":"echo calm >> sea.txt"}' }
  const { server, until, asked } = await served([{ calls: [call] }, 'silent'])
  await send(server)
  await until(() => asked() === 2)
  await server.end('SIGKILL')
  await start(server)
  expect(await endOf(server)).toMatchObject({
    payload: { status: 'interrupted', text: expect.stringContaining('Unknown: what else') },
  })
  expect(asked()).toBe(2)
  await server.end('SIGTERM')
  expect(await readFile(join(server.workspace, 'sea.txt'), 'utf8')).toBe('calm\n')
  expect(stepsOf(await eventsIn(server))).not.toContain('resent_after_crash')
})
