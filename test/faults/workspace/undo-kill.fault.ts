import { tmpdir } from 'node:os'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { runFault } from '../support/figure.ts'
import { runUndoKills } from './undo-kill-runs.ts'

const TEST = 'kill -9 during commands, undo and redo'

await runFault(
  TEST,
  async () => {
    const { isConfined } = await systemSandbox().status()
    return isConfined ? undefined : 'no sandbox for commands'
  },
  async ({ seed, full }) => {
    const n = full ? 400 : 16
    const { violations, moments } = await runUndoKills(tmpdir(), seed, n)
    return [{ test: TEST, n, violations, more: { ...moments } }]
  },
)
