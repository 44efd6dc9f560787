import { tmpdir } from 'node:os'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { random } from '../../support/host/random.ts'
import { isContinued } from '../support/continued-judge.ts'
import { runFault } from '../support/figure.ts'
import { GuestKillRuns } from './guest-kill-runs.ts'

const TEST = 'kill -9 of a guest at random moments of its messages'
const FULL = 200
const QUICK = 4
const PER_TRIAL = 4

await runFault(
  TEST,
  async () => {
    const status = await systemSandbox().status()
    return status.isConfined && status.nests === true
      ? undefined
      : 'nested sandboxes do not work here'
  },
  async ({ seed, full }) => {
    const runs = await GuestKillRuns.prepare(tmpdir(), random(seed))
    const violations: string[] = []
    const killed = new Map<string, number>()
    // Without kills, to know how long a guest lives.
    violations.push(...(await runs.trial(0)).violations)
    let [n, resent] = [0, 0]
    while (n < (full ? FULL : QUICK) && violations.length === 0) {
      const trial = await runs.trial(PER_TRIAL)
      violations.push(...trial.violations)
      n += trial.killedAt.length
      resent += trial.evidence.events.filter(isContinued).length
      for (const at of trial.killedAt) killed.set(at, (killed.get(at) ?? 0) + 1)
    }
    if (violations.length === 0) await runs.clear()
    const names = [...killed].map(([name, count]) => `${name} ${count}`).toSorted()
    return [
      {
        test: TEST,
        n,
        violations,
        more: { resent, 'last frame before the kill': names.join(' ') },
      },
    ]
  },
)
