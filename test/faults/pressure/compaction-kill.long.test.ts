import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { runCompactionKills } from './compaction-runs.ts'
import { whyNoStrace } from '../support/strace.ts'

const cannot = await whyNoStrace()

test.skipIf(cannot !== undefined)(
  'a compaction killed before any sync or rename leaves the Session as before or as after, never mixed',
  async () => {
    const calls = ['fdatasync', 'rename']
    const { violations, before, after } = await runCompactionKills(await freshFolder(), calls)
    expect(violations).toEqual([])
    expect([before > 0, after > 0]).toEqual([true, true])
  },
)
