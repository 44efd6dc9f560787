import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { raceForDead, raceForFree } from './lock-runs.ts'

test('if two processes open a Session at once, one gets it and the other learns who has it', async () => {
  expect(await raceForFree({ seed: 1, rounds: 5, folder: await freshFolder() })).toEqual([])
})

test('if several processes open the Session of a killed one, one gets it and its Log records the previous holder', async () => {
  const run = { seed: 1, rounds: 5, folder: await freshFolder() }
  expect((await raceForDead(run)).violations).toEqual([])
})
