import { tmpdir } from 'node:os'
import { runFault, type Figure } from '../support/figure.ts'
import { KeyKillRuns, type Origin } from './key-kill-runs.ts'

const TEST = 'kill -9 at every step of a message with a key'
const ORIGINS: readonly Origin[] = ['new', 'resumed']
const QUICK = 25

await runFault(
  TEST,
  async () => undefined,
  async ({ full }) => {
    const runs = await KeyKillRuns.prepare(tmpdir())
    const figures: Figure[] = []
    for (const origin of ORIGINS) {
      const trials = await runs.everyStep(origin, full ? 1 : QUICK)
      const killed = trials.filter(({ kills }) => kills.length > 0)
      const unsaved = killed.filter(({ recorded }) => !recorded).length
      figures.push({
        test: `${TEST}, ${origin} Session`,
        n: killed.length,
        violations: trials.flatMap(({ violations }) => violations),
        more: { 'before the message was durable': unsaved },
      })
    }
    if (figures.every(({ violations }) => violations.length === 0)) await runs.clear()
    return figures
  },
)
