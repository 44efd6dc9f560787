import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import {
  pipeTimes,
  raceConfinedIngests,
  raceIngests,
  raceNaiveIngests,
} from './ingest-race-runs.ts'

const PIPE_MS = 50

await runFault(
  'links swapped under attachments',
  async () => undefined,
  async ({ seed, full }) => {
    const run = { seed, n: full ? 40_000 : 1_000, folder: tmpdir() }
    const ingests = await raceIngests(run)
    const confined = await raceConfinedIngests(run)
    const naive = await raceNaiveIngests(run)
    const idle = full && naive === 0 ? ['a look at the path would have done: nothing raced'] : []
    const times = await pipeTimes(full ? 1_000 : 50, tmpdir())
    // One in a hundred may have waited for the machine.
    const most = times[Math.floor(times.length * 0.99) - 1] ?? Infinity
    return [
      {
        test: 'attachments while a link is swapped in',
        n: ingests.taken + ingests.refused,
        violations: [...ingests.violations, ...idle],
        more: { taken: ingests.taken, refused: ingests.refused, escapes_of_a_naive_read: naive },
      },
      {
        test: 'attachments of a restricted caller while links are swapped in',
        n: confined.taken + confined.refused,
        violations: confined.violations,
        more: { taken: confined.taken, refused: confined.refused },
      },
      {
        test: 'pipes without a writer are refused in under 50 ms',
        n: times.length,
        violations: most < PIPE_MS ? [] : [`99 of 100 took up to ${most.toFixed(1)} ms`],
        more: { p99_ms: Number(most.toFixed(2)) },
      },
    ]
  },
)
