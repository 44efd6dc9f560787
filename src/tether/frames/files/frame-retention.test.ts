import { expect, test } from 'vitest'
import { CrashDisk } from '../../../../test/support/host/crash-disk.ts'
import {
  allFrames,
  ids,
  openFrames,
  SMALL,
} from '../../../../test/support/tether/frame-log-place.ts'
import { done, presence, userMessage } from '../../../../test/support/tether/frames.ts'
import { value } from '../../../../test/support/log/story.ts'
import { virtualClock } from '../../../../test/support/host/virtual-clock.ts'
import type { FrameLog } from '../frame-log.ts'

async function bytesIn(disk: CrashDisk): Promise<number> {
  const folder = disk.folder()
  let bytes = 0
  for (const name of await folder.names()) {
    const file = await folder.open(name, 'read')
    bytes += (await file.stat()).size
  }
  return bytes
}

async function addPresences(log: FrameLog, count: number): Promise<void> {
  for (let i = 0; i < count; i++) value(await log.append(presence(`p${i}`, 'a')))
}

test('the oldest files are deleted when all together are too large', async () => {
  const disk = new CrashDisk(1)
  const log = value(await openFrames(disk.folder()))
  value(await log.append(userMessage('a')))
  await addPresences(log, 300)
  expect(await bytesIn(disk)).toBeLessThan(SMALL.mostBytes + 2 * SMALL.fileBytes)
  const frames = await allFrames(log)
  expect(frames[0]?.seq).toBe(log.firstAvailable)
  expect(ids(frames)).toEqual(
    Array.from({ length: 300 }, (_, i) => `p${i}`).slice(300 - frames.length),
  )
})

test('a cursor of deleted frames is refused with the first available number, and never skips', async () => {
  const disk = new CrashDisk(1)
  let log = value(await openFrames(disk.folder()))
  value(await log.append(userMessage('a')))
  await addPresences(log, 100)
  const first = log.firstAvailable
  for (const after_seq of [0, 1, first - 2]) {
    expect(await log.poll({ after_seq })).toMatchObject({
      ok: false,
      error: { kind: 'cursor_expired', details: { first_available_seq: first } },
    })
  }
  expect(value(await log.poll({ after_seq: first - 1 })).frames[0]?.seq).toBe(first)
  expect(value(await log.poll({})).first_available_seq).toBe(first)
  // Reading backwards ends there.
  const back = value(await log.poll({ before_seq: first + 2, limit: 200 }))
  expect(back.frames.map(({ seq }) => seq)).toEqual([first, first + 1])
  await log.close()
  log = value(await openFrames(disk.folder()))
  expect(log.firstAvailable).toBe(first)
})

test('frames are deleted by age, when the log is used and when it is opened', async () => {
  const disk = new CrashDisk(1)
  const clock = virtualClock()
  const settings = { ...SMALL, mostBytes: 1_000_000, mostAgeMs: 8_000 }
  let log = value(await openFrames(disk.folder(), { clock, settings }))
  value(await log.append(userMessage('a')))
  clock.advance(2_000)
  value(await log.append(userMessage('b')))
  clock.advance(7_000)
  value(await log.append(userMessage('c')))
  expect(ids(await allFrames(log))).toEqual(['a', 'b', 'c'])
  await log.close()
  clock.advance(2_000)
  log = value(await openFrames(disk.folder(), { clock, settings }))
  expect(ids(await allFrames(log))).toEqual(['b', 'c'])
  clock.advance(7_000)
  value(await log.append(done('e', 'a')))
  expect(ids(await allFrames(log))).toEqual(['c', 'e'])
})

test('a file that a killed process should have deleted is deleted by the next one', async () => {
  const disk = new CrashDisk(1)
  const log = value(await openFrames(disk.folder()))
  value(await log.append(userMessage('a')))
  await addPresences(log, 300)
  await log.close()
  const left = await disk.folder().open('0000000000000001.ndjson', 'create')
  await left.close()
  const again = value(await openFrames(disk.folder()))
  expect(await disk.folder().names()).not.toContain('0000000000000001.ndjson')
  expect(again.firstAvailable).toBe(log.firstAvailable)
})

test('memory is bounded by frames and by their size', async () => {
  const settings = { ...SMALL, memory: { frames: 1_000, characters: 5_000 }, mostBytes: 1_000_000 }
  const log = value(await openFrames(new CrashDisk(1).folder(), { settings }))
  for (let i = 0; i < 20; i++) {
    value(await log.append(userMessage(`m${i}`, {}, 'x'.repeat(2_000))))
    value(await log.append(done(`e${i}`, `m${i}`)))
  }
  expect(await allFrames(log, 200)).toHaveLength(40)
})
