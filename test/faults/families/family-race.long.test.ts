import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { raceFamilies } from './family-race-runs.ts'

test.each([undefined, 800])(
  'processes that fork, rewind, write to, delete and sweep the Sessions of one workspace at once keep every Session whole (kill within: %s ms)',
  async (killWithinMs) => {
    const race = { seed: 1, rounds: 2, acts: 12, killWithinMs, folder: await freshFolder() }
    const { violations, done } = await raceFamilies(race)
    expect(violations).toEqual([])
    expect(Object.keys(done).length).toBeGreaterThan(3)
  },
)
