import { memoryFolder } from '../../support/host/memory-folder.ts'
import { runFault, type Figure } from '../support/figure.ts'
import { MOST_GROWTH } from './stream-noise-judge.ts'
import { NOISES } from './stream-noise-kinds.ts'
import { NoiseRuns, PLANTED } from './stream-noise-runs.ts'

const TEST = 'noise in place of an answer'

await runFault(
  TEST,
  async () => undefined,
  async ({ seed, full }) => {
    const runs = await NoiseRuns.prepare(await memoryFolder())
    const kinds = Object.keys(NOISES).length
    const count = full ? 500 : kinds
    const made = await runs.make({ seed, count, each: full ? 1 : 8 })
    const planted: Figure[] = []
    for (const mistake of PLANTED) {
      const run = { seed, count: 1, each: 1, noises: ['cut'], planted: mistake }
      const missed = (await runs.make(run)).violations.length === 0 ? ['not caught'] : []
      planted.push({ test: `planted ${mistake} is caught`, n: 1, violations: missed })
    }
    const { violations, peakGrowth, endGrowth } = made
    if (violations.length === 0) await runs.clear()
    const more = {
      kinds,
      peak_growth_mb: megabytes(peakGrowth),
      end_growth_mb: megabytes(endGrowth),
      bar_mb: megabytes(MOST_GROWTH),
    }
    return [{ test: TEST, n: count, violations, more }, ...planted]
  },
)

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6)
}
