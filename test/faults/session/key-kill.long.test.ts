import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { KeyKillRuns, type Origin } from './key-kill-runs.ts'

/** `npm run test:faults -- key-kill` kills at every step. */
const EACH = 9

test.each<Origin>(['new', 'resumed'])(
  'a message with a key runs once in a %s Session, wherever its process is killed',
  async (origin) => {
    const runs = await KeyKillRuns.prepare(await freshFolder())
    const trials = await runs.everyStep(origin, EACH)
    expect(trials.flatMap(({ violations }) => violations)).toEqual([])
    const killed = trials.filter(({ kills }) => kills.length > 0)
    expect(new Set(killed.map(({ recorded }) => recorded))).toEqual(new Set([true, false]))
  },
)
