import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { runFrameKills } from './frame-kill-runs.ts'

const TEST = 'kill -9 of a process that appends and polls frames'
const FULL = 200
const QUICK = 8

await runFault(
  TEST,
  async () => undefined,
  async ({ seed, full }) => {
    const n = full ? FULL : QUICK
    const { violations, ...more } = await runFrameKills(tmpdir(), n, seed)
    return [{ test: TEST, n, violations, more }]
  },
)
