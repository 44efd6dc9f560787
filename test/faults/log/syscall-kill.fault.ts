import { tmpdir } from 'node:os'
import { runFault } from '../support/figure.ts'
import { whyNoStrace } from '../support/strace.ts'
import { runSyscallKills } from './syscall-runs.ts'

const TEST = 'kill -9 before every file system call'

await runFault(TEST, whyNoStrace, async ({ full }) => {
  const small = { starts: ['whole'], calls: ['fdatasync', 'rename'] } as const
  const run = { folder: tmpdir(), ...(full ? {} : small) }
  const { violations, kills, by } = await runSyscallKills(run)
  const names = [...by].map(([name, count]) => `${name} ${count}`).toSorted()
  return [{ test: TEST, n: kills, violations, more: { calls: names.join(' ') } }]
})
