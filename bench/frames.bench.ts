// The frame log of one Instance on a real disk: what 1,000 frames take in memory, and how fast frames pass through it.
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as z from 'zod'
import { systemClock } from '../src/host/clock.ts'
import { diskFolder } from '../src/host/files/disk.ts'
import type { Folder } from '../src/host/files/files.ts'
import { systemIds } from '../src/host/ids.ts'
import type { FrameToGuest, FrameToHost, ImageReference } from '../src/model/tether/frame.ts'
import type { FrameLog } from '../src/tether/frames/frame-log.ts'
import { FRAME_LOG_SETTINGS } from '../src/tether/frames/frame-settings.ts'
import { InstanceRegister } from '../src/tether/instances/register.ts'
import { openFrames } from '../test/support/tether/frame-log-place.ts'
import { delta, done, presence, userMessage } from '../test/support/tether/frames.ts'
import { value } from '../test/support/log/story.ts'
import { full, median, quantile, tell, timed } from './figure.ts'
import { inScratch } from './scratch.ts'

const FRAMES = full ? 20_000 : 2_000
const POLLS = full ? 1_000 : 100
const INSTANCES = full ? 1_000 : 100
const CALLERS = 50
/** Enough of them that what is measured is not what the process itself uses. */
const LOGS = 8
/** Closed at the end. */
const folders: Folder[] = []

setFlagsFromString('--expose-gc')
const collect = z.custom<() => void>((gc) => typeof gc === 'function').parse(runInNewContext('gc'))

await inScratch(async (scratch) => {
  const bytes = await memoryOfFrames(scratch)
  const log = await openAt(join(scratch, 'speed'))
  value(await log.append(userMessage('m')))
  const stored = await appendAll(log, (name) => presence(name, 'm'))
  const deltas = await appendAll(log, (name) => delta(name, 'm'))
  const latencies = await pollAll(log)
  await log.close()
  tell({
    bench: 'frames: memory of 1,000 frames with four image references, relative to 1 MB',
    ratio: bytes / 1_000_000,
    bar: '<= 1',
    more: {
      stored_frames_per_s: stored,
      deltas_per_s: deltas,
      append_to_poll_p50_ms: median(latencies),
      append_to_poll_p99_ms: quantile(latencies, 0.99),
      register_open_ms: await registerOpened(join(scratch, 'instances')),
      instances: INSTANCES,
    },
  })
  for (const folder of folders) await folder.close()
})

async function openAt(path: string): Promise<FrameLog> {
  await mkdir(path, { mode: 0o700 })
  const folder = await diskFolder(path)
  folders.push(folder)
  return value(await openFrames(folder, { clock: systemClock, settings: FRAME_LOG_SETTINGS }))
}

/**
 * Heap and buffers of 1,000 frames, all with four references. The same number of open messages would be refused, so each ends;
 * the second half of the frames are answers with references too.
 */
async function memoryOfFrames(scratch: string): Promise<number> {
  const warm = await openAt(join(scratch, 'warm'))
  await addPictures(warm, 'warm', 1_000)
  const logs = await Promise.all(
    Array.from({ length: LOGS }, (_, i) => openAt(join(scratch, `memory-${i}`))),
  )
  const before = used()
  for (const log of logs) await addPictures(log, 'counted', 500)
  const bytes = (used() - before) / LOGS
  for (const log of [warm, ...logs]) await log.close()
  return bytes
}

async function addPictures(log: FrameLog, name: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    value(await log.append(withPictures(`${name}-${i}`)))
    value(await log.append(answerWithPictures(`${name}-${i}-end`, `${name}-${i}`)))
  }
}

function pictures(): ImageReference[] {
  return Array.from({ length: 4 }, () => ({
    media_type: 'image/png',
    blob: `${randomBytes(32).toString('hex')}.png`,
    size: 1_000_000,
  }))
}

function answerWithPictures(msg_id: string, to: string): FrameToHost {
  const { type: _type, payload: _payload, ...envelope } = done(msg_id, to)
  const payload = { text: 'Here they are.', status: 'completed', images: pictures() } as const
  return { ...envelope, type: 'assistant.done', payload }
}

function withPictures(msg_id: string): FrameToGuest {
  const images = pictures()
  const { type: _type, payload: _payload, ...envelope } = userMessage(msg_id)
  return { ...envelope, type: 'user.message', payload: { text: 'Look at these.', images } }
}

function used(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Frames per second with many callers. */
async function appendAll(
  log: FrameLog,
  frame: (name: string) => Parameters<FrameLog['append']>[0],
): Promise<number> {
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        for (let i = 0; i < FRAMES / CALLERS; i++) value(await log.append(frame(`${caller}-${i}`)))
      }),
    ),
  )
  return Math.round((FRAMES / ms) * 1000)
}

/** From the append of a frame to the page with it, for a poll that waits. */
async function pollAll(log: FrameLog): Promise<number[]> {
  const latencies: number[] = []
  for (let i = 0; i < POLLS; i++) {
    const page = log.poll({ after_seq: log.newest }, { waitMs: 10_000 })
    latencies.push(
      await timed(async () => {
        void log.append(presence(`poll-${i}`, 'm'))
        value(await page)
      }),
    )
  }
  return latencies
}

async function registerOpened(path: string): Promise<number> {
  await mkdir(path, { mode: 0o700 })
  const folder = await diskFolder(path)
  folders.push(folder)
  const parts = { folder, clock: systemClock, ids: systemIds(systemClock) }
  const register = value(await InstanceRegister.open(parts))
  for (let i = 0; i < INSTANCES; i++) value(await register.create({ handle: `i${i}` }))
  const rounds: number[] = []
  for (let i = 0; i < 5; i++)
    rounds.push(await timed(async () => value(await InstanceRegister.open(parts))))
  return median(rounds)
}
