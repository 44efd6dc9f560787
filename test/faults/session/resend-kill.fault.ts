import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { ResendKillRuns } from './resend-kill-runs.ts'

const TEST = 'kill -9 at every moment of a message, and of those that go on with it'

await runFault(
  TEST,
  async () => undefined,
  async ({ full }) => {
    const runs = await ResendKillRuns.prepare(tmpdir())
    const { violations, trials, resent } = await runs.kill(full)
    if (violations.length === 0) await runs.clear()
    return [{ test: TEST, n: trials, violations, more: { resent } }]
  },
)
