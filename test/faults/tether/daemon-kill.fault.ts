import { tmpdir } from 'node:os'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { daemonOffences, type DaemonEvidence } from './daemon-kill-judge.ts'
import { PLANTED } from './daemon-kill-planted.ts'
import { runDaemonKills, type Victim } from './daemon-kill-runs.ts'
import { runFault, type Figure } from '../support/figure.ts'

const FULL = 200
const QUICK = 4

await runFault(
  'kill -9 under four pollers and a sender',
  async () => {
    const status = await systemSandbox().status()
    return status.isConfined && status.nests === true
      ? undefined
      : 'nested sandboxes do not work here'
  },
  async ({ seed, full }) => {
    const n = full ? FULL : QUICK
    const runs = await Promise.all(
      (['server', 'guest'] satisfies Victim[]).map(async (victim) => {
        const { violations, evidence, more } = await runDaemonKills(tmpdir(), victim, n, seed)
        const test = `kill -9 of the ${victim}, with four pollers and a sender`
        return { evidence, figure: { test, n, violations, more } }
      }),
    )
    const [first] = runs
    const planted = first === undefined ? [] : caught(first.evidence)
    return [...runs.map(({ figure }) => figure), ...planted]
  },
)

function caught(evidence: DaemonEvidence): Figure[] {
  return Object.entries(PLANTED).map(([name, [offence, plant]]) => {
    const isFound = daemonOffences(plant(evidence)).some((text) => offence.test(text))
    return { test: `planted ${name} is caught`, n: 1, violations: isFound ? [] : ['not caught'] }
  })
}
