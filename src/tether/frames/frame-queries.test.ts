import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import {
  ids,
  openFrames,
  SMALL,
  type FrameLogOptions,
} from '../../../test/support/tether/frame-log-place.ts'
import { delta, done, presence, userMessage } from '../../../test/support/tether/frames.ts'
import { value } from '../../../test/support/log/story.ts'
import { until, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import type { Frame } from '../../model/tether/frame.ts'
import type { FrameLog } from './frame-log.ts'
import type { FrameFilter, FramePage } from './frame-query.ts'
import { PollPlaces } from './frame-waiters.ts'

async function open(options: FrameLogOptions = {}): Promise<FrameLog> {
  return value(await openFrames(new CrashDisk(1).folder(), options))
}

const NOTHING = { frames: [], timed_out: true }

describe('a page', () => {
  test('contains what matches all filters, in order', async () => {
    const log = await open()
    const web = { channel: 'web', id: 'tab' }
    await log.append(userMessage('a'))
    await log.append(userMessage('b', web))
    await log.append(presence('p', 'a'))
    await log.append(delta('d', 'b', web))
    await log.append(done('e', 'b', web))
    const found = async (filter: FrameFilter) => ids(value(await log.poll(filter)).frames)
    expect(await found({})).toEqual(['a', 'b', 'p', 'd', 'e'])
    expect(await found({ channel: 'web' })).toEqual(['b', 'd', 'e'])
    expect(await found({ channel: 'host', session_id: 'tab' })).toEqual([])
    expect(await found({ session_id: 'default' })).toEqual(['a', 'p'])
    expect(await found({ types: ['assistant.done', 'user.message'] })).toEqual(['a', 'b', 'e'])
    expect(await found({ reply_to_msg_id: 'b' })).toEqual(['d', 'e'])
    expect(await found({ reply_to_msg_id: 'e' })).toEqual([])
  })

  test('has 50 frames by default, and at most 200', async () => {
    const settings = { ...SMALL, mostBytes: 1_000_000 }
    const log = await open({ settings })
    await log.append(userMessage('a'))
    for (let i = 0; i < 250; i++) await log.append(presence(`p${i}`, 'a'))
    expect(value(await log.poll({})).frames).toHaveLength(50)
    expect(value(await log.poll({ limit: 200 })).frames).toHaveLength(200)
  })

  test.each([
    { limit: 0 },
    { limit: 201 },
    { limit: 1.5 },
    { limit: Number.NaN },
    { after_seq: -1 },
    { after_seq: Number.NaN },
    { before_seq: 0.5 },
    { after_seq: 1, before_seq: 2 },
    { after_seq: 1_000 },
  ])('is refused for %o', async (query) => {
    const log = await open()
    expect(await log.poll(query)).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
  })

  test.each([-1, 30_001, Number.NaN])('is refused for a wait of %s ms', async (waitMs) => {
    const log = await open()
    expect(await log.poll({}, { waitMs })).toMatchObject({ error: { kind: 'invalid_args' } })
  })

  test('that is empty keeps the cursor, so that no other answer is skipped', async () => {
    const log = await open()
    await log.append(userMessage('a'))
    await log.append(userMessage('b'))
    await log.append(done('e', 'b'))
    const first = value(await log.poll({ after_seq: 1, reply_to_msg_id: 'a' }))
    expect(first).toMatchObject({ frames: [], next_seq: 1, timed_out: false })
    const second = value(await log.poll({ after_seq: first.next_seq, reply_to_msg_id: 'b' }))
    expect(ids(second.frames)).toEqual(['e'])
  })

  test('ends early after reading much, and the next one continues', async () => {
    const settings = { ...SMALL, queryBytes: 1_000, mostBytes: 1_000_000 }
    const log = await open({ settings })
    await log.append(userMessage('a'))
    for (let i = 0; i < 50; i++) await log.append(presence(`p${i}`, 'a'))
    await log.append(done('e', 'a'))
    let pages = 0
    let page: FramePage | undefined
    for (let after_seq = 0; page === undefined || page.frames.length === 0; pages++) {
      page = value(await log.poll({ after_seq, types: ['assistant.done'] }))
      expect(page.next_seq).toBeGreaterThan(after_seq)
      after_seq = page.next_seq
    }
    expect(ids(page.frames)).toEqual(['e'])
    expect(pages).toBeGreaterThan(3)
  })

  test('from memory and disk is what a model of the log returns, in both directions', async () => {
    const settings = { ...SMALL, mostBytes: 1_000_000 }
    const disk = new CrashDisk(1)
    const log = value(await openFrames(disk.folder(), { settings }))
    const stored: Frame[] = []
    await log.append(userMessage('m'))
    for (let i = 0; i < 80; i++) {
      const address = { channel: i % 3 === 0 ? 'web' : 'host' }
      const frame = i % 2 === 0 ? presence(`p${i}`, 'm', address) : userMessage(`u${i}`, address)
      const { seq } = value(await log.append(frame))
      // Numbers with gaps.
      if (i % 5 === 0) await log.append(delta(`d${i}`, 'm'))
      if (frame.type === 'user.message') stored.push({ ...frame, seq })
      else if (frame.type === 'status.presence') stored.push({ ...frame, seq })
    }
    await log.close()
    const again = value(await openFrames(disk.folder(), { settings }))
    const last = again.newest
    const cursor = fc.integer({ min: 1, max: last })
    const filters: FrameFilter[] = [{}, { channel: 'web' }, { types: ['user.message'] }]
    await fc.assert(
      fc.asyncProperty(
        cursor,
        fc.constantFrom(...filters),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        async (at, filter, limit, isForward) => {
          const fits = stored.filter(
            ({ seq, session, type }) =>
              (isForward ? seq > at : seq < at) &&
              (filter.channel === undefined || session.channel === filter.channel) &&
              (filter.types === undefined || filter.types.includes(type)),
          )
          // The first frame is not part of the model.
          const expected = isForward ? fits.slice(0, limit) : fits.slice(-limit)
          const query = isForward ? { after_seq: at } : { before_seq: at }
          const page = value(await again.poll({ ...filter, ...query, limit }))
          const frames = page.frames.filter(({ msg_id }) => msg_id !== 'm')
          expect(frames.slice(isForward ? 0 : -expected.length)).toEqual(expected)
          const bound = isForward ? page.frames.at(-1)?.seq : page.frames[0]?.seq
          expect(page.next_seq).toBe(bound ?? at)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('a poll that waits', () => {
  test('returns with the first frame that matches, and no other wakes it', async () => {
    const log = await open()
    await log.append(userMessage('a'))
    const poll = log.poll({ after_seq: 1, types: ['assistant.done'] }, { waitMs: 30_000 })
    for (let i = 0; i < 20; i++) await log.append(delta(`d${i}`, 'a'))
    await log.append(done('e', 'a'))
    expect(ids(value(await poll).frames)).toEqual(['e'])
  })

  test('misses no frame that arrives at any moment of its query', async () => {
    // The query reads from disk: each of its reads is a moment at which a frame may arrive.
    for (let moment = 0; moment < 30; moment++) {
      const clock = virtualClock()
      const log = await open({ clock })
      await log.append(userMessage('a'))
      for (let i = 0; i < 30; i++) await log.append(presence(`p${i}`, 'a'))
      const query = { after_seq: log.firstAvailable - 1, types: ['assistant.done'] }
      const poll = log.poll(query, { waitMs: 1_000 })
      for (let tick = 0; tick < moment; tick++) await Promise.resolve()
      await log.append(done('e', 'a'))
      expect(ids(value(await poll).frames)).toEqual(['e'])
    }
  })

  test('times out with an empty page and its cursor', async () => {
    const clock = virtualClock()
    const log = await open({ clock })
    await log.append(userMessage('a'))
    const poll = log.poll({ after_seq: 1 }, { waitMs: 500 })
    await until(() => clock.pending().length === 1)
    clock.advance(500)
    expect(value(await poll)).toEqual({ ...NOTHING, next_seq: 1, first_available_seq: 1 })
  })

  test('frees its place and its timer when it is cancelled', async () => {
    const clock = virtualClock()
    const places = new PollPlaces()
    const log = await open({ clock, places })
    const controller = new AbortController()
    const poll = log.poll({}, { waitMs: 30_000, signal: controller.signal })
    await until(() => places.waiting === 1)
    controller.abort()
    expect(value(await poll)).toMatchObject(NOTHING)
    expect([places.waiting, clock.pending()]).toEqual([0, []])
    const late = log.poll({}, { waitMs: 30_000, signal: controller.signal })
    expect(value(await late)).toMatchObject(NOTHING)
  })

  test('is released with an empty page when 1,000 newer ones wait, also at other Instances', async () => {
    const places = new PollPlaces()
    const [log, other] = [await open({ places }), await open({ places })]
    const first = log.poll({}, { waitMs: 30_000 })
    const rest = Array.from({ length: 1_000 }, () => other.poll({}, { waitMs: 30_000 }))
    expect(value(await first)).toMatchObject(NOTHING)
    expect(places.waiting).toBe(1_000)
    await other.append(userMessage('a'))
    for (const poll of rest) expect(ids(value(await poll).frames)).toEqual(['a'])
    expect(places.waiting).toBe(0)
  })

  test('is released when the log is closed', async () => {
    const log = await open()
    const poll = log.poll({}, { waitMs: 30_000 })
    await log.close()
    expect(value(await poll)).toMatchObject(NOTHING)
  })
})

describe('a live stream', () => {
  test('replays from its cursor, then delivers what comes, once and in order', async () => {
    const log = await open({ settings: { ...SMALL, mostBytes: 1_000_000 } })
    await log.append(userMessage('a'))
    for (let i = 0; i < 30; i++) await log.append(presence(`p${i}`, 'a'))
    const controller = new AbortController()
    const seen: string[] = []
    const reading = (async () => {
      for await (const live of value(log.follow(0, {}, controller.signal)))
        seen.push(live.kind === 'frame' ? live.frame.msg_id : live.kind)
    })()
    await until(() => seen.length === 31)
    await log.append(delta('d', 'a'))
    await log.append(done('e', 'a'))
    await until(() => seen.length === 33)
    controller.abort()
    await reading
    const all = ['a', ...Array.from({ length: 30 }, (_, i) => `p${i}`), 'd', 'e']
    expect(seen).toEqual(all)
  })

  test('that is read slowly gets every stored frame, and a notice about forgotten deltas', async () => {
    const log = await open({ settings: { ...SMALL, mostBytes: 1_000_000 } })
    await log.append(userMessage('a'))
    const live = value(log.follow(0, {}, new AbortController().signal))
    expect(await live.next()).toMatchObject({ value: { frame: { msg_id: 'a' } } })
    for (let i = 0; i < 20; i++) await log.append(delta(`d${i}`, 'a'))
    await log.append(done('e', 'a'))
    const missing = (await live.next()).value
    // Memory has the last 6 frames: 5 deltas and the end.
    expect(missing).toEqual({ kind: 'missing', what: 'deltas', after_seq: 1, through_seq: 16 })
    const rest: string[] = []
    for (let i = 0; i < 6; i++) {
      const { value: item } = await live.next()
      if (item?.kind === 'frame') rest.push(item.frame.msg_id)
    }
    expect(rest).toEqual(['d15', 'd16', 'd17', 'd18', 'd19', 'e'])
    await live.return()
  })

  test('whose frames are deleted before it reads them is informed of the range', async () => {
    const log = await open()
    await log.append(userMessage('a'))
    const live = value(log.follow(0, {}, new AbortController().signal))
    await live.next()
    for (let i = 0; i < 80; i++) await log.append(presence(`p${i}`, 'a'))
    const first = log.firstAvailable
    const missing = { kind: 'missing', what: 'frames', after_seq: 1, through_seq: first - 1 }
    expect((await live.next()).value).toEqual(missing)
    expect((await live.next()).value).toMatchObject({ frame: { seq: first } })
    await live.return()
  })

  test('does not begin at a cursor whose frames are gone, or that was never issued', async () => {
    const log = await open()
    await log.append(userMessage('a'))
    for (let i = 0; i < 80; i++) await log.append(presence(`p${i}`, 'a'))
    const { signal } = new AbortController()
    expect(log.follow(1, {}, signal)).toMatchObject({ error: { kind: 'cursor_expired' } })
    expect(log.follow(10_000, {}, signal)).toMatchObject({ error: { kind: 'invalid_args' } })
  })
})
