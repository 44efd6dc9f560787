import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { raceForDead, raceForFree } from './lock-runs.ts'

const TAKEOVER_MS = 1000

await runFault(
  'two writers on one Session',
  async () => undefined,
  async ({ seed, full }) => {
    const run = { seed, rounds: full ? 100 : 5, folder: tmpdir() }
    const free = await raceForFree(run)
    const { violations, slowestMs } = await raceForDead(run)
    if (full && slowestMs >= TAKEOVER_MS) violations.push(`a takeover took ${slowestMs} ms`)
    return [
      { test: 'two processes open a free Session', n: run.rounds, violations: free },
      {
        test: 'two or three open the Session of a killed process',
        n: run.rounds,
        violations,
        more: { slowestMs },
      },
    ]
  },
)
