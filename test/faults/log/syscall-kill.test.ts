import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { whyNoStrace } from '../support/strace.ts'
import { runSyscallKills } from './syscall-runs.ts'

const cannot = await whyNoStrace()

test.skipIf(cannot !== undefined)(
  'a writer killed before any sync or rename loses nothing acknowledged',
  async () => {
    const { violations, by } = await runSyscallKills({
      folder: await freshFolder(),
      starts: ['whole'],
      calls: ['fdatasync', 'rename'],
    })
    expect(violations).toEqual([])
    expect([...by.keys()].toSorted()).toEqual(['fdatasync', 'rename'])
  },
)
