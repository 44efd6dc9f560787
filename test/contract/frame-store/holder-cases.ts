import { expect } from 'vitest'
import { value } from '../../support/log/story.ts'
import {
  add,
  entry,
  hold,
  ONE,
  readAll,
  SCARCE,
  seqs,
  tryHold,
  TWO,
  type FrameCase,
} from './under-test.ts'

const REFUSED = { ok: false, error: { kind: 'storage_failed' } }

export const HOLDER_CASES: readonly FrameCase[] = [
  {
    title: 'one holder at a time, over all processes; closing lets the next one in',
    run: async ({ store, other }) => {
      const first = await hold(store)
      expect(await tryHold(other)).toMatchObject(REFUSED)
      expect(await tryHold(store)).toMatchObject(REFUSED)
      await add(first.frames, 1)
      await first.frames.close()
      const second = await hold(other)
      expect(seqs(second.restored)).toEqual([1])
      expect(await tryHold(store)).toMatchObject(REFUSED)
    },
  },
  {
    title: 'the frames of another Instance can be held at the same time, and share nothing',
    run: async ({ store, other }) => {
      const [one, two] = [await hold(store), await hold(other, { instance: TWO })]
      await add(one.frames, 1, 2)
      await add(two.frames, 7)
      expect(seqs(await readAll(one.frames))).toEqual([1, 2])
      expect(seqs(await readAll(two.frames))).toEqual([7])
    },
  },
  {
    title: 'a holder that closed cannot append, and may close again',
    run: async ({ store, other }) => {
      const { frames } = await hold(store)
      await add(frames, 1)
      await frames.close()
      expect(await frames.append({ first: 2, entries: [entry(2)] })).toMatchObject(REFUSED)
      const next = await hold(other)
      await frames.close()
      expect(await frames.append({ first: 2, entries: [entry(2)] })).toMatchObject(REFUSED)
      await add(next.frames, 3)
      expect(seqs(await readAll(next.frames))).toEqual([1, 3])
      expect(await tryHold(store)).toMatchObject(REFUSED)
    },
  },
  {
    title: 'a holder that lost the frames cannot append, whatever it still holds',
    run: async (under) => {
      const { store, other } = under
      const old = await hold(store)
      await add(old.frames, 1, 2)
      await under.seize(ONE)
      const next = await hold(other)
      await add(next.frames, 3)
      expect(await old.frames.append({ first: 3, entries: [entry(3, 'stale')] })).toMatchObject(
        REFUSED,
      )
      expect(await old.frames.append({ first: 4, entries: [entry(4, 'stale')] })).toMatchObject(
        REFUSED,
      )
      await add(next.frames, 4)
      await next.frames.close()
      await old.frames.close()
      const { restored } = await hold(store)
      expect(restored).toEqual([entry(1), entry(2), entry(3), entry(4)])
    },
  },
  {
    title: 'reserved numbers stay reserved, with frames and without any',
    run: async ({ store }) => {
      const first = await hold(store)
      value(await first.frames.append({ first: 1, entries: [entry(1)], reserveTo: 40 }))
      await first.frames.close()
      const second = await hold(store)
      expect(second.frames.lastReserved).toBe(40)
      value(await second.frames.append({ first: 41, entries: [], reserveTo: 90 }))
      await add(second.frames, 41)
      await second.frames.close()
      const third = await hold(store)
      expect(third.frames.lastReserved).toBe(90)
      expect(seqs(third.restored)).toEqual([1, 41])
    },
  },
  {
    title: 'the reserved number is never below a stored one',
    run: async ({ store }) => {
      const first = await hold(store)
      await add(first.frames, 1, 7, 2_000_000)
      await first.frames.close()
      expect((await hold(store)).frames.lastReserved).toBe(2_000_000)
    },
  },
  {
    title: 'reserved numbers survive the deletion of what reserved them',
    run: async ({ store }) => {
      const first = await hold(store, { retention: SCARCE })
      value(await first.frames.append({ first: 1, entries: [entry(1)], reserveTo: 500 }))
      for (let seq = 2; seq < 60; seq++) await add(first.frames, seq)
      expect(first.frames.firstAvailable).toBeGreaterThan(1)
      await first.frames.close()
      expect((await hold(store, { retention: SCARCE })).frames.lastReserved).toBe(500)
    },
  },
  {
    title: 'messages are carried over deletions: those without an end, and the numbers of others',
    run: async ({ store }) => {
      const [waiting, ended] = [[entry(1)], [['hash', 9] as const]]
      const options = { retention: SCARCE, messages: () => ({ waiting, ended }) }
      const first = await hold(store, options)
      for (let seq = 1; seq < 60; seq++) await add(first.frames, seq)
      await first.frames.close()
      const again = await hold(store, options)
      expect(again.carried).toEqual(waiting)
      expect(again.ended).toEqual(ended)
      expect(again.after).toBeGreaterThan(1)
    },
  },
  {
    title:
      'old frames are deleted by size, oldest first, and the first available number only grows',
    run: async ({ store }) => {
      const { frames } = await hold(store, { retention: SCARCE })
      let first = frames.firstAvailable
      for (let seq = 1; seq <= 80; seq++) {
        await add(frames, seq)
        expect(frames.firstAvailable).toBeGreaterThanOrEqual(first)
        first = frames.firstAvailable
        const found = await readAll(frames)
        expect(seqs(found)).toEqual(Array.from({ length: seq - first + 1 }, (_, i) => first + i))
        const bytes = found.reduce((sum, { text }) => sum + text.length, 0)
        expect(bytes).toBeLessThan(SCARCE.mostBytes + 2 * SCARCE.fileBytes)
      }
      expect(first).toBeGreaterThan(1)
      await frames.close()
      expect((await hold(store, { retention: SCARCE })).frames.firstAvailable).toBe(first)
    },
  },
  {
    title: 'old frames are deleted by age, when frames are appended and when they are opened',
    run: async ({ store, clock }) => {
      const retention = { ...SCARCE, fileBytes: 1e6, mostBytes: 1e9 }
      const first = await hold(store, { retention })
      await add(first.frames, 1)
      clock.advance(20_000)
      await add(first.frames, 2)
      clock.advance(70_000)
      await add(first.frames, 3)
      expect(seqs(await readAll(first.frames))).toEqual([1, 2, 3])
      await first.frames.close()
      clock.advance(20_000)
      const second = await hold(store, { retention })
      expect(seqs(await readAll(second.frames))).toEqual([2, 3])
      clock.advance(70_000)
      await add(second.frames, 4)
      expect(seqs(await readAll(second.frames))).toEqual([3, 4])
    },
  },
  {
    title: 'frames of the newest step are never deleted, however old they are',
    run: async ({ store, clock }) => {
      const first = await hold(store, { retention: SCARCE })
      await add(first.frames, 1, 2)
      await first.frames.close()
      clock.advance(SCARCE.mostAgeMs * 100)
      const again = await hold(store, { retention: SCARCE })
      expect(seqs(await readAll(again.frames))).toEqual([1, 2])
    },
  },
  {
    title: 'what must be carried is asked for within an append only',
    run: async ({ store }) => {
      let isAppending = false
      let asked = 0
      const messages = () => {
        expect(isAppending, 'an append is running').toBe(true)
        asked += 1
        return { waiting: [], ended: [] }
      }
      const { frames } = await hold(store, { retention: SCARCE, messages })
      for (let seq = 1; seq < 40; seq++) {
        isAppending = true
        await add(frames, seq)
        isAppending = false
        await readAll(frames)
      }
      await frames.close()
      await (await hold(store, { retention: SCARCE, messages })).frames.close()
      expect(asked).toBeGreaterThan(1)
    },
  },
  {
    title: 'frames below those that are restored can be read, also by the next holder',
    run: async ({ store }) => {
      const retention = { ...SCARCE, mostBytes: 1e9 }
      const first = await hold(store, { retention })
      for (let seq = 1; seq < 40; seq++) await add(first.frames, seq)
      await first.frames.close()
      const again = await hold(store, { retention })
      expect(again.after).toBeGreaterThan(1)
      const restored = seqs(again.restored)
      expect(restored).toEqual(
        Array.from({ length: 39 - again.after }, (_, i) => again.after + 1 + i),
      )
      expect(seqs(await readAll(again.frames))).toEqual(Array.from({ length: 39 }, (_, i) => i + 1))
    },
  },
  {
    title: 'a real process holds the frames until it is killed, and then the next one does',
    processes: true,
    run: async ({ store, program }) => {
      if (program === undefined) throw new Error('there is no program')
      const [one, two] = [program(), program()]
      const outcomes = await Promise.all([one.open(ONE), two.open(ONE)])
      expect(outcomes.toSorted()).toEqual(['open', 'storage_failed'])
      const [first, second] = outcomes[0] === 'open' ? [one, two] : [two, one]
      for (let seq = 1; seq <= 20; seq++) expect(await first.append(entry(seq))).toBe('stored')
      expect(await tryHold(store)).toMatchObject(REFUSED)
      await first.kill()
      expect(await second.open(ONE)).toBe('open')
      expect(await second.append(entry(21))).toBe('stored')
      await second.kill()
      const { restored } = await hold(store)
      expect(restored).toEqual(Array.from({ length: 21 }, (_, i) => entry(i + 1)))
    },
  },
  {
    title: 'a real process that lost the frames cannot append beside the one that got them',
    processes: true,
    run: async (under) => {
      const { store, program } = under
      if (program === undefined) throw new Error('there is no program')
      const old = program()
      expect(await old.open(ONE)).toBe('open')
      expect(await old.append(entry(1))).toBe('stored')
      await under.seize(ONE)
      const next = await hold(store)
      await add(next.frames, 2)
      expect(await old.append(entry(3, 'stale'))).toBe('storage_failed')
      await add(next.frames, 3)
      await next.frames.close()
      await old.kill()
      expect((await hold(store)).restored).toEqual([entry(1), entry(2), entry(3)])
    },
  },
]
