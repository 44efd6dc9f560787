import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Session } from '../../../src/session/session.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { random } from '../../support/host/random.ts'
import { say } from '../../support/resources/sample-files.ts'
import { scriptResult } from '../../support/host/script-result.ts'
import { value } from '../../support/log/story.ts'
import { numbersBetween } from '../../support/session/watching.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

/** The numbers that a stream gives up to `upTo`, or only the first `count` of them. */
async function numbersOf(
  session: Session,
  after_seq: number,
  upTo: number,
  count = Infinity,
): Promise<number[]> {
  const seqs: number[] = []
  if (after_seq >= upTo || count === 0) return seqs
  for await (const update of session.stream({ after_seq })) {
    if (update.kind !== 'event') continue
    seqs.push(update.raw.seq)
    if (update.raw.seq === upTo || seqs.length === count) break
  }
  return seqs
}

test('from 1,000 random places across checkpoints, no Event is lost or doubled, also when cut and resumed', async () => {
  const { root, harness } = await harnessPlace()
  const session = value(await harness.create(REHEARSAL))
  for (let round = 0; round < 6; round += 1) {
    for (let turn = 0; turn < 8; turn += 1)
      expect(await say(session, `Remember: ${'tide '.repeat(500)}`)).toBe('completed')
    expect(value(await session.compact()).compactable).toBe(true)
  }
  value(await session.undoCompaction())
  expect(await say(session, 'What did it say?')).toBe('completed')
  const last = session.nextSeq - 1
  const other = await harnessPlace({}, root)
  const opened = value(await other.harness.open(session.id))
  const chance = random(20)
  for (let round = 0; round < 1_000; round += 1) {
    const after = chance.below(last + 2) - 1
    const from = chance.pick([session, opened])
    const isCut = round % 5 === 0
    const count = isCut ? chance.below(last - after + 1) : Infinity
    const first = await numbersOf(from, after, last, count)
    const resumed = isCut ? await numbersOf(from, first.at(-1) ?? after, last) : []
    if (isCut) expect(first).toHaveLength(count)
    expect([...first, ...resumed]).toEqual(numbersBetween(after, last))
  }
  await Promise.all([session.close(), opened.close()])
})

const Report = z.object({
  before: z.int(),
  peak: z.int(),
  after: z.int(),
  passed: z.int(),
  last: z.int(),
  orders: z.array(z.boolean()),
})

const SLOW_READER = new URL('../../support/session/slow-reader.ts', import.meta.url)

const MIB = 1024 * 1024

test.each([
  ['deltas', { turns: 48, message: 1_000, delta: 600, deltas: 1_000 }],
  ['Events', { turns: 300, message: 60_000, delta: 60_000, deltas: 1 }],
  ['Events with long fields', { turns: 60, message: 1_000_000, delta: 1, deltas: 1 }],
])(
  'readers that never read use little memory while 50 MB of %s pass, and then read all in order',
  async (_, story) => {
    const order = { root: await freshFolder(), readers: 4, ...story }
    const { before, peak, passed, orders } = await scriptResult(SLOW_READER, order, Report)
    expect(passed).toBeGreaterThan(50 * MIB)
    expect(orders).toEqual([true, true, true, true])
    expect(peak - before).toBeLessThan(8 * MIB)
  },
)
