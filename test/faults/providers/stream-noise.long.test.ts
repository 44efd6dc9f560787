import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import type { NoiseRecord } from './stream-noise-judge.ts'
import { NOISES } from './stream-noise-kinds.ts'
import { NoiseRuns } from './stream-noise-runs.ts'

test('no kind of noise harms a process: each Turn ends once, the next one works, and memory stays small', async () => {
  const runs = await NoiseRuns.prepare(await freshFolder())
  const count = Object.keys(NOISES).length
  expect(count).toBeGreaterThan(30)
  const ends = new Set<string>()
  const note = ({ reports }: NoiseRecord) => {
    const turns = reports.flatMap((one) => (one.what === 'turn' ? [one.kind ?? one.status] : []))
    ends.add(turns[1] ?? 'none')
  }
  const { violations, peakGrowth } = await runs.make({ seed: 1, count, each: 8, note })
  expect(violations).toEqual([])
  expect(peakGrowth).toBeGreaterThan(0)
  expect([...ends]).toEqual(
    expect.arrayContaining(['completed', 'invalid_response', 'network', 'stream_idle']),
  )
})
