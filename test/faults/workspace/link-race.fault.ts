import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { raceNaively, raceReads, raceWrites } from './link-race-runs.ts'

await runFault(
  'links swapped under reads and writes',
  async () => undefined,
  async ({ seed, full }) => {
    const run = (n: number) => ({ seed, n, folder: tmpdir() })
    const reads = await raceReads(run(full ? 40_000 : 2_000))
    const writes = await raceWrites(run(full ? 10_000 : 500))
    const naive = await raceNaively(run(full ? 40_000 : 2_000))
    const idle = full && naive === 0 ? ['a check of the path would have done: nothing raced'] : []
    return [
      {
        test: 'reads while links are swapped in',
        n: reads.done + reads.refused,
        violations: [...reads.violations, ...idle],
        more: { read: reads.done, refused: reads.refused, escapes_of_a_naive_read: naive },
      },
      {
        test: 'writes while links are swapped in',
        n: writes.done + writes.refused,
        violations: writes.violations,
        more: { written: writes.done, refused: writes.refused },
      },
    ]
  },
)
