import { tmpdir } from 'node:os'
import { runCompactionKills } from './compaction-runs.ts'
import { runFault } from '../support/figure.ts'
import { whyNoStrace } from '../support/strace.ts'

const TEST = 'kill -9 around a checkpoint'

await runFault(TEST, whyNoStrace, async ({ full }) => {
  const calls = full ? undefined : ['fdatasync', 'rename']
  const { violations, before, after } = await runCompactionKills(tmpdir(), calls)
  return [{ test: TEST, n: before + after, violations, more: { before, after } }]
})
