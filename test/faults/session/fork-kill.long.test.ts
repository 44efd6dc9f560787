import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { whyNoStrace } from '../support/strace.ts'
import { runForkKills } from './fork-kill-runs.ts'

const cannot = await whyNoStrace()

test.skipIf(cannot !== undefined)(
  'a fork, a rewind, a deletion and a sweep killed before any sync, rename or removal are done or not, and can be done again',
  async () => {
    const calls = ['fdatasync', 'rename', 'unlink']
    const { violations, before, after } = await runForkKills(await freshFolder(), calls)
    expect(violations).toEqual([])
    expect([before > 0, after > 0]).toEqual([true, true])
  },
)
