import { expect } from 'vitest'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { FrameLog, type LiveFrame } from '../../../src/tether/frames/frame-log.ts'
import { value } from '../../support/log/story.ts'
import { SMALL } from '../../support/tether/frame-log-place.ts'
import { FrameJournal, runStoryOfFrames } from '../../support/tether/frame-story.ts'
import { delta, done, presence, userMessage } from '../../support/tether/frames.ts'
import { ONE, seqs, type FrameCase, type FramesUnderTest } from './under-test.ts'

/** The frame log above the store, which is the same for every engine. */
export function openLog({ store, clock }: FramesUnderTest, settings = SMALL) {
  return FrameLog.open({ store, instance: ONE, clock, settings })
}

const ROUNDS = 8

/** Appends frames for a while; returns the numbers of those that are stored. */
async function talk(log: FrameLog, rounds: number): Promise<number[]> {
  const stored: number[] = []
  for (let round = 0; round < rounds; round++) {
    const name = `m${round}`
    const frames = [userMessage(name), presence(`${name}-p`, name), delta(`${name}-d`, name)]
    const answers = await Promise.all(frames.map((frame) => log.append(frame)))
    const end = value(await log.append(done(`${name}-end`, name))).seq
    stored.push(...answers.slice(0, 2).map((answer) => value(answer).seq), end)
  }
  return stored.toSorted((a, b) => a - b)
}

const AMPLE_LOG = { ...SMALL, mostBytes: 1e9 }

export const FRAME_LOG_CASES: readonly FrameCase[] = [
  {
    title:
      'a story of messages, deltas and deletions goes through three holders without an offence',
    run: async (under) => {
      const journal = new FrameJournal()
      for (const name of ['first', 'second', 'third'])
        await runStoryOfFrames(() => openLog(under), journal, name, ROUNDS)
      expect(journal.offences).toEqual([])
    },
  },
  {
    title: 'polls beside appends return every frame once, in order, without a gap',
    run: async (under) => {
      const log = value(await openLog(under, AMPLE_LOG))
      const seen: Frame[] = []
      const talking = talk(log, 20)
      for (let after_seq = 0; seen.at(-1)?.msg_id !== 'm19-end';) {
        const page = value(await log.poll({ after_seq, limit: 3 }, { waitMs: 30_000 }))
        seen.push(...page.frames)
        after_seq = page.next_seq
      }
      const stored = await talking
      expect(seqs(seen)).toEqual([...new Set(seqs(seen))].toSorted((a, b) => a - b))
      expect(seqs(seen.filter(({ type }) => !type.endsWith('.delta')))).toEqual(stored)
      await log.close()
    },
  },
  {
    title: 'a follower gets every stored frame once, in order, without a gap',
    run: async (under) => {
      const log = value(await openLog(under, AMPLE_LOG))
      const stop = new AbortController()
      const live = value(log.follow(0, {}, stop.signal))
      const seen: LiveFrame[] = []
      const reading = (async () => {
        for await (const one of live) seen.push(one)
      })()
      const stored = await talk(log, 20)
      const last = stored.at(-1) ?? 0
      const isThere = () => seen.some((one) => one.kind === 'frame' && one.frame.seq === last)
      while (!isThere()) await new Promise((resolve) => void setImmediate(resolve))
      stop.abort()
      await reading
      const frames = seen.flatMap((one) => (one.kind === 'frame' ? [one.frame] : []))
      expect(seqs(frames)).toEqual([...new Set(seqs(frames))].toSorted((a, b) => a - b))
      expect(seqs(frames.filter(({ type }) => !type.endsWith('.delta')))).toEqual(stored)
      await log.close()
    },
  },
]
