import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { raceFamilies } from './family-race-runs.ts'

await runFault(
  'families of Sessions in three processes',
  async () => undefined,
  async ({ seed, full }) => {
    const race = { seed, rounds: full ? 30 : 2, acts: full ? 25 : 10, folder: tmpdir() }
    const figures = []
    for (const [test, killWithinMs] of [
      ['three processes fork, rewind, write, delete and sweep at random', undefined],
      ['the same, and one of them is killed', 1500],
    ] as const) {
      const { violations, done, refused, killed } = await raceFamilies({ ...race, killWithinMs })
      const n = Object.values(done).reduce((sum, count) => sum + count, 0)
      const acts = Object.entries(done).map(([name, count]) => `${name} ${count}`)
      figures.push({ test, n, violations, more: { refused, killed, done: acts.join(' ') } })
    }
    return figures
  },
)
