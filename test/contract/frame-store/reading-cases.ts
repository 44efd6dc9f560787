import { expect } from 'vitest'
import type { FrameEntry } from '../../../src/tether/frames/frame-entry.ts'
import { value } from '../../support/log/story.ts'
import {
  add,
  AMPLE,
  entry,
  hold,
  ONE,
  readAll,
  SCARCE,
  seqs,
  type FrameCase,
  type FramesUnderTest,
} from './under-test.ts'

/** Appends numbers 1 to `last`, two in each batch. */
async function filled({ store }: FramesUnderTest, last: number, retention = AMPLE) {
  const held = await hold(store, { retention })
  for (let seq = 1; seq <= last; seq += 2) await add(held.frames, seq, seq + 1)
  return held
}

export const READING_CASES: readonly FrameCase[] = [
  {
    title: 'an Instance without frames opens empty, from number 1',
    run: async ({ store }) => {
      const { frames, after, restored, carried, ended } = await hold(store)
      expect({ after, restored, carried, ended }).toEqual({
        after: 0,
        restored: [],
        carried: [],
        ended: [],
      })
      expect([frames.lastReserved, frames.firstAvailable, frames.damage]).toEqual([0, 1, undefined])
      expect(await readAll(frames)).toEqual([])
    },
  },
  {
    title: 'frames come back in order and as they were, after a close too',
    run: async ({ store }) => {
      const texts = [
        '',
        '"\\\n\u2028',
        'ünï ✓ 🚢',
        '{"frame":1,"crc":"00000000"}',
        'x'.repeat(70_000),
      ]
      const entries = texts.map((text, i) => entry(2 * i + 1, text))
      const first = await hold(store)
      for (const one of entries)
        value(await first.frames.append({ first: one.seq, entries: [one] }))
      expect(await readAll(first.frames)).toEqual(entries)
      await first.frames.close()
      const { restored, frames } = await hold(store)
      expect(restored).toEqual(entries)
      expect(await readAll(frames)).toEqual(entries)
    },
  },
  {
    title: 'a frame of 1 MiB is stored like any other',
    run: async ({ store }) => {
      const large = entry(1, 'y'.repeat(1024 * 1024 - 400))
      const first = await hold(store)
      value(await first.frames.append({ first: 1, entries: [large, entry(2)] }))
      await first.frames.close()
      const { frames, restored } = await hold(store)
      expect(restored).toEqual([large, entry(2)])
      expect(seqs(await readAll(frames))).toEqual([1, 2])
    },
  },
  {
    title: 'a reading visits what is above one number and up to another, in order',
    run: async (under) => {
      const { frames } = await filled(under, 20)
      for (const [after, upTo] of [
        [0, 20],
        [3, 17],
        [19, 20],
        [20, 20],
        [5, 5],
      ] as const) {
        const found: FrameEntry[] = []
        const visit = (one: FrameEntry) => found.push(one) > 0
        const read = value(await frames.readAfter(after, upTo, 1e9, visit))
        expect(read.complete).toBe(true)
        const wanted = Array.from({ length: upTo - after }, (_, i) => after + i + 1)
        expect(seqs(found)).toEqual(wanted)
      }
    },
  },
  {
    title: 'a reading backwards visits what is below a number, newest first',
    run: async (under) => {
      const { frames } = await filled(under, 20, { ...SCARCE, mostBytes: 1e9 })
      for (const before of [21, 12, 2, 1]) {
        const found: FrameEntry[] = []
        const visit = (one: FrameEntry) => found.push(one) > 0
        const read = value(await frames.readBefore(before, 1e9, visit))
        expect(read.complete).toBe(true)
        expect(seqs(found)).toEqual(Array.from({ length: before - 1 }, (_, i) => before - i - 1))
      }
    },
  },
  {
    title: 'a reading stops when the visitor says so, and is not complete',
    run: async (under) => {
      const { frames } = await filled(under, 20)
      for (const read of ['readAfter', 'readBefore'] as const) {
        const found: FrameEntry[] = []
        const visit = (one: FrameEntry) => found.push(one) < 3
        const extent =
          read === 'readAfter'
            ? await frames.readAfter(4, 20, 1e9, visit)
            : await frames.readBefore(15, 1e9, visit)
        expect(value(extent).complete).toBe(false)
        expect(seqs(found)).toEqual(read === 'readAfter' ? [5, 6, 7] : [14, 13, 12])
      }
    },
  },
  {
    title: 'a reading with a small budget visits at least one frame, so that the next gets further',
    run: async (under) => {
      const { frames } = await filled(under, 20, { ...SCARCE, mostBytes: 1e9 })
      expect(seqs(await readAll(frames, 0, 1))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
      const found: FrameEntry[] = []
      for (let before = 21; before > 1; before = found.at(-1)?.seq ?? 0) {
        const known = found.length
        value(await frames.readBefore(before, 1, (one) => found.push(one) > 0))
        expect(found.length).toBeGreaterThan(known)
      }
      expect(seqs(found)).toEqual(Array.from({ length: 20 }, (_, i) => 20 - i))
    },
  },
  {
    title: 'a reading beside an append sees whole batches that were acknowledged, and no others',
    run: async (under) => {
      const { frames } = await filled(under, 10, { ...SCARCE, mostBytes: 1e9 })
      const reading = readAll(frames)
      await add(frames, 11, 12)
      const seen = seqs(await reading)
      expect([10, 12]).toContain(seen.length)
      expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1))
    },
  },
  {
    title: 'a changed frame is reported where it is read, and those before it are visited',
    run: async (under) => {
      const retention = { ...SCARCE, mostBytes: 1e9 }
      const { frames } = await filled(under, 20, retention)
      await frames.close()
      await under.damage(ONE, 3)
      const again = await hold(under.store, { retention })
      expect(again.frames.damage).toBeUndefined()
      const found: FrameEntry[] = []
      const read = await again.frames.readAfter(0, 20, 1e9, (one) => found.push(one) > 0)
      expect(read).toMatchObject({ ok: false, error: { kind: 'log_damaged' } })
      expect(seqs(found)).toEqual([1, 2])
      await add(again.frames, 21)
    },
  },
  {
    title:
      'a changed frame among the newest is damage: nothing is appended, and those before it can be read',
    run: async (under) => {
      const { frames } = await filled(under, 20)
      await frames.close()
      await under.damage(ONE, 15)
      const again = await hold(under.store)
      const damage = { ok: false, error: { kind: 'log_damaged' } }
      expect(again.frames.damage).toMatchObject(damage)
      expect(seqs(again.restored)).toEqual(Array.from({ length: 14 }, (_, i) => i + 1))
      expect(await again.frames.append({ first: 21, entries: [entry(21)] })).toMatchObject(damage)
    },
  },
  {
    title: 'with damage among the newest frames, readings end at the last one that was restored',
    run: async (under) => {
      const { frames } = await filled(under, 20)
      await frames.close()
      await under.damage(ONE, 15)
      const again = await hold(under.store)
      const [forwards, backwards]: [FrameEntry[], FrameEntry[]] = [[], []]
      value(await again.frames.readAfter(0, 20, 1e9, (one) => forwards.push(one) > 0))
      value(await again.frames.readBefore(21, 1e9, (one) => backwards.push(one) > 0))
      const intact = Array.from({ length: 14 }, (_, i) => i + 1)
      expect([seqs(forwards), seqs(backwards)]).toEqual([intact, intact.toReversed()])
    },
  },
  {
    title: 'what is deleted during a reading backwards ends it, without a gap and without an error',
    run: async ({ store }) => {
      const { frames } = await hold(store, { retention: SCARCE })
      for (let seq = 1; seq <= 12; seq++) await add(frames, seq)
      for (let seq = 13; seq < 60; seq++) {
        const found: FrameEntry[] = []
        const reading = frames.readBefore(seq, 1e9, (one) => found.push(one) > 0)
        await add(frames, seq)
        expect(value(await reading).complete).toBe(true)
        expect(seqs(found)).toEqual(Array.from({ length: found.length }, (_, i) => seq - 1 - i))
      }
      expect(frames.firstAvailable).toBeGreaterThan(12)
    },
  },
]
