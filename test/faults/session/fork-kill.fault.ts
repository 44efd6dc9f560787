import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { whyNoStrace } from '../support/strace.ts'
import { runForkKills } from './fork-kill-runs.ts'

const TEST = 'kill -9 around forks, rewinds, deletions and sweeps'

await runFault(TEST, whyNoStrace, async ({ full }) => {
  const calls = full ? undefined : ['fdatasync', 'rename', 'unlink']
  const { violations, before, after } = await runForkKills(tmpdir(), calls)
  return [{ test: TEST, n: before + after, violations, more: { before, after } }]
})
