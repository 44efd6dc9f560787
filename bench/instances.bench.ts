// Instances with real guests: how soon an agent has a message that wakes it, and how soon a server with many Instances starts. Then
// how fast frames pass through an Instance, without a process.
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { composeInstances } from '../src/compose/instances.ts'
import { systemClock } from '../src/host/clock.ts'
import { openHome } from '../src/host/home.ts'
import { systemIds } from '../src/host/ids.ts'
import type { ProgramFiles } from '../src/host/process/own-program.ts'
import { systemSandbox, type LongProcess } from '../src/host/sandbox/sandbox.ts'
import { failed, ok } from '../src/model/errors.ts'
import type { FrameToGuest } from '../src/model/tether/frame.ts'
import { fileFrameStore } from '../src/tether/frames/files/file-store.ts'
import { fileRecords } from '../src/tether/records/files/file-records.ts'
import { Instances } from '../src/tether/instances/instances.ts'
import type { Tether } from '../src/tether/tether.ts'
import type { InstanceRuntime } from '../src/tether/instances/runtime.ts'
import { FakeRuntime } from '../test/support/tether/fake-runtime.ts'
import { userMessage } from '../test/support/tether/frames.ts'
import { value } from '../test/support/log/story.ts'
import { full, median, medianRatio, quantile, tell, tellSkipped, timed } from './figure.ts'
import { builtProgram } from './program.ts'
import { readyGuest } from './ready-guest.ts'
import { inScratch } from './scratch.ts'
import { servedProgram, type ServedProgram } from './served-program.ts'
import { makeRecords } from '../test/support/session/records.ts'

const ROUNDS = full ? 20 : 4
const STARTS = full ? 15 : 3
const REGISTERED = full ? 1_000 : 100
const WITH_MESSAGES = full ? 20 : 4
const FRAMES = full ? 20_000 : 2_000
const POLLS = full ? 1_000 : 100
const CALLERS = 50

/** Its agents never start. */
const UNABLE: InstanceRuntime = { start: async () => failed('wake_failed', 'Not now.') }

const script = await builtProgram()
const status = await systemSandbox().status()

await inScratch(async (folder) => {
  await frames(folder)
  if (!status.isConfined || status.nests !== true) {
    return tellSkipped('instances', status.isConfined ? 'sandboxes do not nest here' : status.why)
  }
  await wakes(folder)
  await starts(folder)
})

/** Wakes one Instance again and again, from a pause and from a stop. The floor is the bare start of a guest. */
async function wakes(folder: string): Promise<void> {
  const { instances, close } = await realInstances(join(folder, 'wakes'))
  const workspace = join(folder, 'workspace')
  await mkdir(workspace)
  value(await instances.create({ handle: 'a', workspace }, 'operator'))
  const [paused, stopped, cold]: [number[], number[], number[]] = [[], [], []]
  let count = 0
  const wake = async (): Promise<number> => {
    count += 1
    const name = `m${count}`
    const ms = await timed(() => received(instances, name))
    await ended(instances, name)
    return ms
  }
  // The self-test of the sandbox runs once.
  await wake()
  for (let round = 0; round < ROUNDS; round += 1) {
    value(await instances.act('a', 'pause'))
    paused.push(await wake())
    value(await instances.act('a', 'stop'))
    cold.push(await coldStart(join(folder, `cold-${round}`)))
    stopped.push(await wake())
  }
  await close()
  tell({
    bench: 'instances: p90 ms from a message to its receipt by a paused agent',
    ratio: quantile(paused, 0.9),
    bar: '<= 50',
    more: { p50_ms: median(paused), most_ms: Math.max(...paused) },
  })
  tell({
    bench:
      'instances: time from a message to its receipt by a stopped agent, relative to a cold guest',
    ratio: medianRatio(stopped, cold),
    bar: '<= 1.2',
    more: { ms: median(stopped), floor_ms: median(cold) },
  })
}

/** From the start of the program until its guest is ready. */
async function coldStart(folder: string): Promise<number> {
  const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')]
  const ownHome = join(home, 'instances/a/home')
  await mkdir(workspace, { recursive: true })
  await mkdir(ownHome, { recursive: true })
  const records = await makeRecords(workspace, 'a')
  const place = { workspace, home, ownHome, records, model: 'rehearsal', provider: 'rehearsal' }
  let guest: LongProcess | undefined
  const ms = await timed(async () => void (guest = await readyGuest(place, programFiles())))
  await guest?.stop(0)
  return ms
}

/** Starts servers, with and without Instances. Some of them have messages, whose agents are started after the server. */
async function starts(folder: string): Promise<void> {
  const template = join(folder, 'template')
  await fillHome(template)
  const [empty, filled]: [number[], number[]] = [[], []]
  for (let round = 0; round < STARTS; round += 1) {
    const places = [join(folder, `empty-${round}`), join(folder, `filled-${round}`)] as const
    await mkdir(places[0])
    await cp(template, places[1], { recursive: true })
    empty.push(await serverStart(places[0]))
    filled.push(await serverStart(places[1]))
  }
  tell({
    bench: `instances: start of a server with ${REGISTERED} Instances, ${WITH_MESSAGES} of them with messages, relative to none`,
    ratio: medianRatio(filled, empty),
    bar: '<= 2',
    more: { ms: median(filled), floor_ms: median(empty) },
  })
}

async function serverStart(folder: string): Promise<number> {
  let server: ServedProgram | undefined
  const ms = await timed(async () => void (server = await servedProgram(script, folder)))
  await server?.stop()
  return ms
}

/** A home with many Instances, some with a message that no agent has taken. */
async function fillHome(root: string): Promise<void> {
  await mkdir(join(root, 'workspace'), { recursive: true })
  const { instances, close } = await openInstances(join(root, 'home'), UNABLE)
  for (let at = 0; at < REGISTERED; at += 1)
    value(await instances.create({ handle: `i${at}` }, 'operator'))
  for (let at = 0; at < WITH_MESSAGES; at += 1)
    value(await instances.send(`i${at}`, userMessage('m1')))
  await close()
}

/** Frames of an agent that is played here: those per second that are stored, and how long a poll waits for one. */
async function frames(folder: string): Promise<void> {
  const runtime = new FakeRuntime()
  const { instances, close } = await openInstances(join(folder, 'frames'), runtime)
  value(await instances.create({ handle: 'a' }, 'operator'))
  const message = userMessage('m1')
  value(await instances.send('a', message))
  value(await instances.act('a', 'start'))
  const { guest } = runtime
  const say = () => guest.say('status.presence', { state: 'thinking' }, message)
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (let at = 0; at < FRAMES / CALLERS; at += 1) await say()
      }),
    ),
  )
  const latencies: number[] = []
  const { next_seq } = value(await instances.poll('a', { before_seq: 1e9, limit: 1 }))
  let after_seq = next_seq
  for (let at = 0; at < POLLS; at += 1) {
    const page = instances.poll('a', { after_seq }, { waitMs: 10_000 })
    latencies.push(
      await timed(async () => {
        void say()
        after_seq = value(await page).next_seq
      }),
    )
  }
  await close()
  tell({
    bench: 'instances: p99 ms from a frame of an agent to the poll that waits for it',
    ratio: quantile(latencies, 0.99),
    bar: '<= 250',
    more: { p50_ms: median(latencies), stored_frames_per_s: Math.round((FRAMES / ms) * 1000) },
  })
}

async function received(instances: Tether, name: string): Promise<void> {
  const frame: FrameToGuest = userMessage(name)
  const { ingress_seq } = value(await instances.send('a', frame))
  const query = { after_seq: ingress_seq, types: ['event.ack'], reply_to_msg_id: name }
  value(await instances.poll('a', query, { waitMs: 30_000 }))
}

async function ended(instances: Tether, name: string): Promise<void> {
  const query = { after_seq: 0, types: ['assistant.done', 'error'], reply_to_msg_id: name }
  const { frames: ends } = value(await instances.poll('a', query, { waitMs: 30_000 }))
  const [end] = ends
  if (end?.type !== 'assistant.done') throw new Error(`no answer: ${JSON.stringify(end)}`)
}

async function openInstances(path: string, runtime: InstanceRuntime) {
  await mkdir(dirname(path), { recursive: true })
  const home = value(await openHome(path))
  const ids = systemIds(systemClock)
  const files = { home: home.own, clock: systemClock, ids }
  const stored = fileFrameStore(files)
  const records = fileRecords({ ...files, frames: stored })
  const own = { ...files, path, frames: stored, records }
  const parts = { ...own, runtime, roots: async () => ok([]), note: () => {} }
  const instances = value(await Instances.open(parts))
  return { instances, close: () => instances.close().then(() => home.close()) }
}

async function realInstances(path: string) {
  const home = value(await openHome(path))
  const { tether, close } = value(
    await composeInstances({
      home: home.own,
      path,
      env: { HAWSER_PROVIDER: 'rehearsal' },
      clock: systemClock,
      ids: systemIds(systemClock),
      note: () => {},
      program: programFiles(),
    }),
  )
  return { instances: tether, close: () => close().then(() => home.close()) }
}

function programFiles(): ProgramFiles {
  const readable = ['.', '../node_modules', '../package.json']
  return {
    argv: [process.execPath, script],
    readable: readable.map((path) => join(dirname(script), path)),
  }
}
