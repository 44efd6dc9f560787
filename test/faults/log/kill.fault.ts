import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { runKills } from './kill-runs.ts'

await runFault(
  'kill -9 at random',
  async () => undefined,
  async ({ seed, full }) => {
    const kills = full ? 1000 : 20
    const { violations, ...more } = await runKills({ seed, kills, lanes: 2, folder: tmpdir() })
    return [{ test: 'kill -9 at random', n: kills, violations, more }]
  },
)
