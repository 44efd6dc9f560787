import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { recordsPath } from '../../../src/host/files/records.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { wait } from '../../../src/host/wait.ts'
import type { Tether } from '../../../src/tether/tether.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { guestProgram, removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { instancesPlace, message } from '../../support/tether/instances-place.ts'
import { kinPids } from '../../support/host/kin-traces.ts'
import { endOf, realInstances } from '../../support/tether/real-instances.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { openRehearsal } from '../../support/providers/rehearsal-server.ts'
import { PRICES } from '../../support/tether/relay-place.ts'
import { picture } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { onlyRecords } from '../../support/session/records.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

test.runIf(canNest)('a message with an image wakes an agent, which answers', async () => {
  const { instances, workspace, notes } = await realInstances()
  value(await instances.create({ handle: 'a', workspace }, 'operator'))
  const bytes = picture(3)
  const image = value(await instances.putImage('a', { media_type: 'image/png', bytes }))
  const payload = { text: 'What is in this image?', images: [image] }
  value(await instances.send('a', message('m1', payload)))
  const end = await endOf(instances, 'a', 'm1')
  expect(end, JSON.stringify(notes)).toMatchObject({
    type: 'assistant.done',
    payload: { status: 'completed' },
  })
  expect(value(await instances.info('a'))).toMatchObject({ state: 'running', waiting: 0 })
  expect((await logsOf(workspace))[0]).toContain('"m1"')
})

test.runIf(canNest)('an agent without a workspace works in its own folder', async () => {
  const { instances, home, notes } = await realInstances()
  const { id } = value(await instances.create({ handle: 'a' }, 'operator'))
  value(await instances.send('a', message('m1', { text: 'Run `echo calm > sea.txt`' })))
  const end = await endOf(instances, 'a', 'm1')
  expect(end, JSON.stringify(notes)).toMatchObject({ payload: { status: 'completed' } })
  expect(await readFile(join(home, 'instances', id, 'workspace/sea.txt'), 'utf8')).toBe('calm\n')
})

async function inState(instances: Tether, name: string, state: string): Promise<void> {
  while (value(await instances.info(name)).state !== state) await wait(systemClock, 20)
}

async function logsOf(workspace: string): Promise<string[]> {
  return logsIn(await onlyRecords(workspace))
}

async function logsIn(records: string): Promise<string[]> {
  const folder = join(records, 'sessions')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ndjson'))
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
}

test.runIf(canNest)(
  'an idle agent is paused and stopped, and a message continues its Session from either',
  async () => {
    const { instances, workspace } = await realInstances()
    const idle = { pause_seconds: 1, stop_seconds: 1 }
    value(await instances.create({ handle: 'a', workspace, idle }, 'operator'))
    value(await instances.send('a', message('m1')))
    await endOf(instances, 'a', 'm1')
    await inState(instances, 'a', 'paused')
    value(await instances.send('a', message('m2')))
    expect(await endOf(instances, 'a', 'm2')).toMatchObject({ payload: { status: 'completed' } })
    await inState(instances, 'a', 'stopped')
    value(await instances.send('a', message('m3')))
    expect(await endOf(instances, 'a', 'm3')).toMatchObject({ payload: { status: 'completed' } })
    const logs = await logsOf(workspace)
    expect(logs).toHaveLength(1)
    expect(logs[0]?.match(/"type":"turn_started"/g)).toHaveLength(3)
  },
)

test.runIf(canNest)('two Instances in one workspace have Sessions of their own', async () => {
  const { instances, workspace } = await realInstances()
  for (const handle of ['a', 'b']) value(await instances.create({ handle, workspace }, 'operator'))
  for (const name of ['a', 'b']) value(await instances.send(name, message('m1')))
  for (const name of ['a', 'b'])
    expect(await endOf(instances, name, 'm1')).toMatchObject({ payload: { status: 'completed' } })
  for (const { id } of value(await instances.list())) {
    const logs = await logsIn(recordsPath({ workspace, instance: id }))
    expect(logs.map((text) => /"instance":"(ins_[^"]+)"/.exec(text)?.[1])).toEqual([id])
  }
  expect(await readdir(join(workspace, '.hawser'))).toEqual(['.gitignore', 'instances'])
})

test.runIf(canNest)(
  'what an agent spends is counted by its relay, kept, and limited by its ceiling',
  async () => {
    const vendor = await openRehearsal()
    const root = await freshFolder()
    await mkdir(join(root, 'home'), { mode: 0o700 })
    const settings = {
      providers: { anthropic: { key: CANARY_KEY, base_url: vendor.baseUrl('messages') } },
      models: { model: { prices: PRICES, window_tokens: 100_000 } },
    }
    await writeFile(join(root, 'home/config.json'), JSON.stringify(settings), { mode: 0o600 })
    const first = await realInstances({ root, env: {} })
    const own = { handle: 'a', provider: 'anthropic', model: 'model', ceiling_usd: 0.000001 }
    value(await first.instances.create(own, 'operator'))
    const refused = { type: 'error', payload: { kind: 'usage_limit' } }
    value(await first.instances.send('a', message('m1')))
    // Its first call reaches the ceiling, so the second is refused.
    expect(await endOf(first.instances, 'a', 'm1')).toMatchObject(refused)
    const { spend } = value(await first.instances.info('a'))
    expect([spend.calls, spend.usd > 0]).toEqual([1, true])
    await first.close()
    const { instances } = await realInstances({ root, env: {} })
    expect(value(await instances.info('a')).spend).toEqual(spend)
    value(await instances.send('a', message('m2')))
    expect(await endOf(instances, 'a', 'm2')).toMatchObject(refused)
    expect(vendor.requests).toHaveLength(1)
    expect(value(await instances.info('a')).spend).toEqual(spend)
  },
)

test.runIf(canNest)('a Log that was changed keeps its Instance from starting', async () => {
  const { instances, workspace, root } = await realInstances()
  value(await instances.create({ handle: 'a', workspace }, 'operator'))
  value(await instances.send('a', message('m1')))
  await endOf(instances, 'a', 'm1')
  value(await instances.act('a', 'stop'))
  await registerDamage(root, 'log', 'The Log of an agent is changed.')
  const folder = join(await onlyRecords(workspace), 'sessions')
  const name = (await readdir(folder)).find((one) => one.endsWith('.ndjson')) ?? ''
  const text = await readFile(join(folder, name), 'utf8')
  await writeFile(join(folder, name), text.replace('Hello', 'Delete'))
  value(await instances.send('a', message('m2')))
  expect(await endOf(instances, 'a', 'm2')).toMatchObject({ payload: { kind: 'wake_failed' } })
  expect(await instances.send('a', message('m3'))).toMatchObject({
    error: { kind: 'wake_failed', details: { reason: 'log_damaged' } },
  })
  expect(value(await instances.info('a')).reason?.kind).toBe('log_damaged')
})

test.runIf(canNest)(
  'a server that is killed leaves no process, and the next one runs the message to its end',
  async () => {
    // A message that no agent has taken, as an earlier server may leave it.
    const { instances, root, home, runtime } = await instancesPlace()
    const workspace = join(root, 'workspace')
    await mkdir(workspace)
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    const text = 'Run `touch began; until [ -e enough ]; do sleep 0.05; done`'
    value(await instances.send('a', message('m1', { text })))
    while (runtime.guests.length === 0) await wait(systemClock, 5)
    await instances.close()
    const first = await startServer(root)
    while (!existsSync(join(workspace, 'began'))) await wait(systemClock, 20)
    const kin = kinPids(first.pid)
    expect(kin.length).toBeGreaterThan(3)
    process.kill(first.pid, 'SIGKILL')
    while (kin.some((pid) => existsSync(`/proc/${pid}`))) await wait(systemClock, 10)
    await writeFile(join(workspace, 'enough'), '')
    const second = await startServer(root)
    const frames = join(home, 'instances', (await idOf(home)) ?? '', 'frames')
    const ends = async () => (await framesIn(frames)).match(/"type":"assistant.done"/g)?.length ?? 0
    while ((await ends()) === 0) await wait(systemClock, 20)
    expect(await ends()).toBe(1)
    const [log = ''] = await logsOf(workspace)
    expect(log.match(/"type":"turn_started"/g)).toHaveLength(1)
    process.kill(second.pid, 'SIGTERM')
    await second.ended
    expect(await readdir(join(home, 'instances/unended'))).toEqual([])
  },
)

async function idOf(home: string): Promise<string | undefined> {
  return (await readdir(join(home, 'instances'))).find((name) => name.startsWith('ins_'))
}

async function framesIn(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ndjson'))
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('')
}

/** `hawser up` as a process of its own, whose guests run the same program. */
async function startServer(root: string) {
  const [node, script = ''] = (await guestProgram()).argv
  const child = spawn(node, [script, 'up', '--json'], {
    cwd: join(root, 'workspace'),
    env: {
      PATH: process.env['PATH'],
      HAWSER_HOME: join(root, 'home'),
      HAWSER_PROVIDER: 'rehearsal',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return { pid: child.pid ?? 0, ended }
}
