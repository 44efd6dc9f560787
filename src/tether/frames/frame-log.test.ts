import { expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { allFrames, ids, openFrames, SMALL } from '../../../test/support/tether/frame-log-place.ts'
import {
  delta,
  done,
  errorFrame,
  presence,
  userMessage,
} from '../../../test/support/tether/frames.ts'
import { value } from '../../../test/support/log/story.ts'
import { LIMITS } from '../../model/limits.ts'
import type { FrameLog } from './frame-log.ts'

async function open(disk = new CrashDisk(1)): Promise<FrameLog> {
  return value(await openFrames(disk.folder()))
}

async function reopened(log: FrameLog, disk: CrashDisk): Promise<FrameLog> {
  await log.close()
  return open(disk)
}

test('frames of all channels and types share one increasing number, deltas included', async () => {
  const log = await open()
  const appended = await Promise.all([
    log.append(userMessage('a', { channel: 'host' })),
    log.append(userMessage('b', { channel: 'telegram' })),
    log.append(delta('d', 'a')),
    log.append(presence('p', 'a')),
    log.append(done('e', 'x')),
  ])
  expect(appended.map((result) => (result.ok ? result.value.seq : result.error.kind))).toEqual([
    1,
    2,
    3,
    4,
    'not_found',
  ])
  expect((await allFrames(log)).map(({ seq, msg_id }) => [seq, msg_id])).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'd'],
    [4, 'p'],
  ])
})

test('a number is never issued again after a restart, not even that of a delta', async () => {
  const disk = new CrashDisk(1)
  let log = await open(disk)
  await log.append(userMessage('a'))
  let last = 0
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 20; i++) {
      const { seq } = value(await log.append(delta(`d${round}-${i}`, 'a')))
      expect(seq).toBeGreaterThan(last)
      last = seq
    }
    // Without closing it: as after a kill.
    log = value(await openFrames(disk.afterKill(1).folder()))
  }
  expect(value(await log.append(done('e', 'a'))).seq).toBeGreaterThan(last)
  expect(ids(await allFrames(log))).toEqual(['a', 'e'])
})

test('a delta costs no sync as long as numbers are reserved', async () => {
  const disk = new CrashDisk(1)
  const log = await open(disk)
  await log.append(userMessage('a'))
  const { syncs } = disk
  for (let i = 0; i < SMALL.reserve; i++) await log.append(delta(`d${i}`, 'a'))
  expect(disk.syncs).toBe(syncs)
  await log.append(delta('one more', 'a'))
  expect(disk.syncs).toBe(syncs + 1)
})

test('many frames share one sync', async () => {
  const disk = new CrashDisk(1)
  const log = await open(disk)
  const { syncs } = disk
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => log.append(userMessage(name))))
  expect(disk.syncs).toBe(syncs + 1)
})

test('a seq of the sender is ignored', async () => {
  const log = await open()
  const numbered = Object.assign(userMessage('a'), { seq: 900 })
  expect(value(await log.append(numbered)).seq).toBe(1)
  expect((await allFrames(log)).map(({ seq }) => seq)).toEqual([1])
})

test('a frame that no reader would accept is refused, and never vanishes later', async () => {
  const log = await open()
  const refused = { ok: false, error: { kind: 'invalid_args' } }
  expect(await log.append(userMessage('a', {}, ''))).toMatchObject(refused)
  expect(await log.append(userMessage('a', { id: '' }))).toMatchObject(refused)
  expect(value(await log.append(userMessage('a')))).toEqual({ seq: 1 })
})

test('a frame over the limit is refused, and takes no number', async () => {
  const log = await open()
  const long = userMessage('a', {}, 'x'.repeat(LIMITS.frame_bytes))
  expect(await log.append(long)).toMatchObject({ ok: false, error: { kind: 'too_large' } })
  expect(value(await log.append(userMessage('a'))).seq).toBe(1)
})

test('a repeated message is stored once and keeps its number, also at the same time and after a restart', async () => {
  const disk = new CrashDisk(1)
  let log = await open(disk)
  const both = await Promise.all([log.append(userMessage('a')), log.append(userMessage('a'))])
  expect(both.map(value)).toEqual([{ seq: 1 }, { seq: 1, repeated: true }])
  log = await reopened(log, disk)
  expect(value(await log.append(userMessage('a')))).toEqual({ seq: 1, repeated: true })
  value(await log.append(done('e', 'a')))
  log = await reopened(log, disk)
  expect(value(await log.append(userMessage('a')))).toEqual({ seq: 1, repeated: true })
  expect(ids(await allFrames(log))).toEqual(['a', 'e'])
})

test.each([{ channel: 'telegram' }, { id: 'other' }, { channel: 'host","default', id: 'x' }])(
  'the same msg_id in %o is another message',
  async (address) => {
    const log = await open()
    await log.append(userMessage('a'))
    expect(value(await log.append(userMessage('a', address)))).toEqual({ seq: 2 })
  },
)

test('a message ends once, whichever frame comes first', async () => {
  const disk = new CrashDisk(1)
  let log = await open(disk)
  await log.append(userMessage('a'))
  const ends = await Promise.all([log.append(done('e1', 'a')), log.append(errorFrame('e2', 'a'))])
  expect(ends.map(({ ok }) => ok)).toEqual([true, false])
  log = await reopened(log, disk)
  const again = await log.append(done('e3', 'a'))
  expect(again).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
  expect(ids(await allFrames(log))).toEqual(['a', 'e1'])
})

test('an answer must name a message of its conversation', async () => {
  const log = await open()
  await log.append(userMessage('a'))
  const elsewhere = await log.append(done('e', 'a', { channel: 'telegram' }))
  expect(elsewhere).toMatchObject({ ok: false, error: { kind: 'not_found' } })
  const { in_reply_to: _, ...unsolicited } = done('e', 'a')
  expect(await log.append(unsolicited)).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args' },
  })
})

test('messages without an end are pending in order, by session, after restarts and in later files', async () => {
  const disk = new CrashDisk(1)
  let log = await open(disk)
  const other = { channel: 'web', id: 'tab' }
  await log.append(userMessage('a'))
  await log.append(userMessage('b', other))
  await log.append(userMessage('c'))
  // Enough for several files, of which the first are deleted.
  for (let i = 0; i < 60; i++) {
    await log.append(userMessage(`m${i}`))
    await log.append(done(`e${i}`, `m${i}`))
  }
  log = await reopened(log, disk)
  expect(log.firstAvailable).toBeGreaterThan(3)
  await log.append(done('end of a', 'a'))
  log = await reopened(log, disk)
  expect(log.pending().map(({ msg_id, seq }) => [msg_id, seq])).toEqual([
    ['b', 2],
    ['c', 3],
  ])
  expect(ids(log.pending({ channel: 'web', id: 'tab' }))).toEqual(['b'])
  expect(value(await log.append(userMessage('m0'))).repeated).toBe(true)
})

test('too many messages without an end are refused, and room comes with each end', async () => {
  const messages = { ended: 3, waiting: 2, waitingCharacters: 10_000 }
  const folder = new CrashDisk(1).folder()
  const log = value(await openFrames(folder, { settings: { ...SMALL, messages } }))
  const three = await Promise.all(['a', 'b', 'c'].map((name) => log.append(userMessage(name))))
  expect(three.map((result) => (result.ok ? 'ok' : result.error.kind))).toEqual([
    'ok',
    'ok',
    'backpressure',
  ])
  value(await log.append(done('e', 'a')))
  value(await log.append(userMessage('c')))
  const long = userMessage('d', {}, 'x'.repeat(10_000))
  value(await log.append(done('f', 'b')))
  expect(await log.append(long)).toMatchObject({ ok: false, error: { kind: 'backpressure' } })
})

test('only one process can have a log open', async () => {
  const disk = new CrashDisk(1)
  const log = await open(disk)
  expect(await openFrames(disk.folder())).toMatchObject({
    ok: false,
    error: { kind: 'storage_failed' },
  })
  await reopened(log, disk)
})

test('a failed write refuses its frames and leaves no trace of them', async () => {
  const disk = new CrashDisk(3)
  let log = await open(disk)
  value(await log.append(userMessage('a')))
  disk.injectFaults({ fullAtWrite: 1 })
  expect(await log.append(userMessage('b'))).toMatchObject({
    ok: false,
    error: { kind: 'storage_failed' },
  })
  expect(await log.append(done('e', 'a'))).toMatchObject({ ok: false })
  disk.freeSpace()
  value(await log.append(userMessage('b')))
  value(await log.append(done('e', 'a')))
  log = await reopened(log, disk)
  expect(ids(await allFrames(log))).toEqual(['a', 'b', 'e'])
})

test('after a failed sync nothing more is accepted until the log is opened again', async () => {
  const disk = new CrashDisk(3)
  let log = await open(disk)
  value(await log.append(userMessage('a')))
  disk.injectFaults({ badSyncAt: 1 })
  expect(await log.append(userMessage('b'))).toMatchObject({ ok: false })
  expect(await log.append(userMessage('c'))).toMatchObject({ ok: false })
  expect(ids(await allFrames(log))).toEqual(['a'])
  log = await reopened(log, disk)
  expect(value(await log.append(userMessage('c'))).repeated).toBeUndefined()
})
