import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { random } from '../../support/host/random.ts'
import { runFault } from '../support/figure.ts'
import { killPreparing } from './ready-kill-runs.ts'

const TEST = 'kill -9 of a process that prepares sandboxes'
const FULL = 200
const QUICK = 10

await runFault(
  TEST,
  async () =>
    (await systemSandbox().status()).isConfined ? undefined : 'there is no sandbox here',
  async ({ seed, full }) => {
    const n = full ? FULL : QUICK
    return [{ test: TEST, n, violations: await killPreparing(n, random(seed)) }]
  },
)
