import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { TurnKillRuns } from './turn-kill-runs.ts'
import { QUICK_DEATHS } from './turn-kill-scene.ts'

const TEST = 'kill -9 at every Event of a Turn of ten calls'

await runFault(
  TEST,
  async () => undefined,
  async ({ full }) => {
    const runs = await TurnKillRuns.prepare(tmpdir())
    const { violations, by, trials } = await runs.kill(full ? undefined : QUICK_DEATHS)
    if (violations.length === 0) await runs.clear()
    const names = [...by].map(([name, count]) => `${name} ${count}`).toSorted()
    return [{ test: TEST, n: trials, violations, more: { killed: names.join(' ') } }]
  },
)
