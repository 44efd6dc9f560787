import { expect } from 'vitest'
import { PowerCut, type DiskFaults } from '../../support/host/crash-disk.ts'
import { Refused, value } from '../../support/log/story.ts'
import { FrameJournal, runStoryOfFrames } from '../../support/tether/frame-story.ts'
import { openLog } from './log-cases.ts'
import {
  add,
  entry,
  hold,
  ONE,
  readAll,
  SCARCE,
  seqs,
  type Ends,
  type FrameCase,
  type FramesUnderTest,
} from './under-test.ts'

const REFUSED = { ok: false, error: { kind: 'storage_failed' } }

/** What a holder learned. */
interface Learned {
  /** The highest number of an acknowledged batch. */
  acknowledged: number
  /** The highest number that was passed to the store. */
  submitted: number
  reserved: number
}

/** Appends batches of three until the end comes, with several steps of the retention. */
async function appendUntil({ store }: FramesUnderTest, learned: Learned): Promise<void> {
  const { frames } = await hold(store, { retention: { ...SCARCE, mostBytes: 1e9 } })
  for (let first = frames.lastReserved + 1, round = 0; round < 5; round++, first += 10) {
    const entries = [first, first + 1, first + 2].map((seq) => entry(seq))
    const reserved = first + 9
    learned.submitted = first + 2
    const stored = await frames.append({ first, entries, reserveTo: reserved })
    if (!stored.ok) throw new Refused(stored.error.message)
    learned.acknowledged = first + 2
    learned.reserved = reserved
  }
  await frames.close()
}

function endsOf({ ends }: FramesUnderTest): Ends {
  if (ends === undefined) throw new Error('this store cannot end')
  return ends
}

async function untilCut(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof PowerCut || error instanceof Refused)) throw error
  })
}

/** What a later process finds is what was acknowledged, and at most a part of one batch after it. */
async function check(under: FramesUnderTest, learned: Learned): Promise<number[]> {
  const { frames } = await hold(under.store, { retention: { ...SCARCE, mostBytes: 1e9 } })
  expect(frames.damage).toBeUndefined()
  const found = await readAll(frames)
  const wanted: number[] = []
  for (let first = 1; first <= learned.submitted; first += 10)
    wanted.push(first, first + 1, first + 2)
  expect(seqs(found)).toEqual(wanted.slice(0, found.length))
  expect(found.at(-1)?.seq ?? 0).toBeGreaterThanOrEqual(learned.acknowledged)
  expect(frames.lastReserved).toBeGreaterThanOrEqual(
    Math.max(learned.reserved, found.at(-1)?.seq ?? 0),
  )
  await frames.close()
  return seqs(found)
}

/** The batches of one run, each ended at another step. */
async function endAtEveryStep(under: FramesUnderTest, how: 'power' | 'kill'): Promise<void> {
  const learned = { acknowledged: 0, submitted: 0, reserved: 0 }
  for (let cutAt = 1, place = under; ; cutAt++) {
    const ends = endsOf(place)
    const fresh = { ...learned }
    ends.injectFaults({ powerCutAt: cutAt, shortWrites: true })
    const before = ends.steps()
    await untilCut(appendUntil(place, fresh))
    const steps = ends.steps() - before
    const next = ends.after(how, cutAt)
    const found = await check(next, fresh)
    // What a reader has seen survives the next power cut.
    expect(await check(endsOf(next).after('power', cutAt + 1), fresh)).toEqual(found)
    if (steps < cutAt) return
    place = await under.renew()
  }
}

export const CRASH_CASES: readonly FrameCase[] = [
  {
    title: 'what was acknowledged is there after a power cut at any step, in order',
    crashes: true,
    run: (under) => endAtEveryStep(under, 'power'),
  },
  {
    title: 'what was acknowledged is there after a kill at any step, and what is there stays',
    crashes: true,
    run: (under) => endAtEveryStep(under, 'kill'),
  },
  {
    title:
      'no number is issued twice or backwards and nothing accepted is lost, wherever the power is cut',
    crashes: true,
    run: async (under) => {
      for (let seed = 1, place = under; seed <= 24; seed++) {
        const journal = new FrameJournal()
        const faults: DiskFaults = { powerCutAt: seed * 9, shortWrites: true }
        for (const [i, name] of ['first', 'second', 'third'].entries()) {
          endsOf(place).injectFaults(i === 2 ? {} : { ...faults, powerCutAt: seed * 9 - i * 3 })
          await untilCut(runStoryOfFrames(() => openLog(place), journal, name, 4))
          place = endsOf(place).after('power', seed + i)
        }
        expect(journal.offences, `seed ${seed}`).toEqual([])
        place = await under.renew()
      }
    },
  },
  {
    title: 'a refused batch is not visible, and the next one may succeed',
    crashes: true,
    run: async (under) => {
      const { frames } = await hold(under.store)
      await add(frames, 1)
      for (let seed = 1; seed <= 8; seed++) {
        endsOf(under).injectFaults({ fullAtWrite: 1 })
        const batch = [entry(10 * seed, 'x'.repeat(900)), entry(10 * seed + 1)]
        expect(await frames.append({ first: 10 * seed, entries: batch })).toMatchObject(REFUSED)
        endsOf(under).injectFaults({})
      }
      expect(seqs(await readAll(frames))).toEqual([1])
      await add(frames, 100)
      expect(seqs(await readAll(frames))).toEqual([1, 100])
      await frames.close()
      const again = await hold(endsOf(under).after('power', 3).store)
      expect(seqs(again.restored)).toEqual([1, 100])
      expect(again.frames.repair).toBeUndefined()
    },
  },
  {
    title: 'after a failed sync everything is refused until the frames are opened again',
    crashes: true,
    run: async (under) => {
      const { frames } = await hold(under.store)
      await add(frames, 1)
      endsOf(under).injectFaults({ badSyncAt: 1 })
      const lost = { first: 2, entries: [entry(2)] }
      expect(await frames.append(lost)).toMatchObject(REFUSED)
      endsOf(under).injectFaults({})
      expect(await frames.append({ first: 3, entries: [entry(3)] })).toMatchObject(REFUSED)
      expect(seqs(await readAll(frames))).toEqual([1])
      await frames.close()
      const again = await hold(under.store)
      expect(seqs(again.restored)).toEqual([1])
      await add(again.frames, 4)
      expect(seqs(await readAll(again.frames))).toEqual([1, 4])
    },
  },
  {
    title:
      'what is cut off when frames are opened is named, kept, and nothing that was acknowledged',
    crashes: true,
    run: async (under) => {
      let repairs = 0
      for (let seed = 1, place = under; seed <= 40; seed++) {
        const { frames } = await hold(place.store)
        await add(frames, 1, 2)
        endsOf(place).injectFaults({ powerCutAt: 1 })
        const batch = { first: 3, entries: [entry(3, 'x'.repeat(900)), entry(4)] }
        await untilCut(frames.append(batch).then(() => {}))
        const next = endsOf(place).after(seed % 2 === 0 ? 'power' : 'kill', seed)
        const again = await hold(next.store)
        expect([
          [1, 2],
          [1, 2, 3],
          [1, 2, 3, 4],
        ]).toContainEqual(seqs(again.restored))
        const { repair } = again.frames
        if (repair !== undefined) {
          repairs += 1
          const sizes = await rawSizes(next)
          expect(sizes.get(repair.kept_as)).toBe(repair.cut_bytes)
          expect(repair.cut_bytes).toBeGreaterThan(0)
        }
        await again.frames.close()
        place = await under.renew()
      }
      if (under.tears) expect(repairs).toBeGreaterThan(0)
    },
  },
  {
    title: 'a holder that was killed leaves its frames to the next one',
    crashes: true,
    run: async (under) => {
      const { frames } = await hold(under.store)
      await add(frames, 1, 2)
      const next = endsOf(under).after('kill', 1)
      expect(seqs((await hold(next.store)).restored)).toEqual([1, 2])
    },
  },
  {
    title: 'a deletion that a power cut interrupts can be repeated',
    crashes: true,
    run: async (under) => {
      for (let cutAt = 1, place = under; cutAt <= 12; cutAt++) {
        const { frames } = await hold(place.store, { retention: SCARCE })
        for (let seq = 1; seq < 30; seq++) await add(frames, seq)
        await frames.close()
        endsOf(place).injectFaults({ powerCutAt: cutAt })
        await untilCut(place.store.delete(ONE).then(() => {}))
        place = endsOf(place).after('power', cutAt)
        expect(await place.store.delete(ONE)).toMatchObject({ ok: true })
        expect(await place.store.list()).toEqual({ ok: true, value: [] })
        place = await under.renew()
      }
    },
  },
]

/** The size of every piece of what is stored. */
async function rawSizes({ store }: FramesUnderTest): Promise<ReadonlyMap<string, number>> {
  const source = value(await store.raw(ONE))
  const sizes = new Map<string, number>()
  await source?.each(async (name, bytes) => {
    let size = 0
    for await (const piece of bytes) size += piece.length
    sizes.set(name, size)
  })
  await source?.close()
  return sizes
}
