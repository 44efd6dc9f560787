import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { whyNoStrace } from '../support/strace.ts'
import { runSyscallKills } from './syscall-runs.ts'

const cannot = await whyNoStrace()

test.skipIf(cannot !== undefined)(
  'a writer killed at any step of creating a Log leaves a Session that every reader finds, or none does',
  async () => {
    const { violations, by } = await runSyscallKills({
      folder: await freshFolder(),
      starts: ['new'],
      calls: ['write', 'fdatasync', 'rename'],
    })
    expect(violations).toEqual([])
    expect([...by.keys()]).toContain('fdatasync')
  },
  300_000,
)
