import { expect, test } from 'vitest'
import { freshFolder } from '../support/folder.ts'
import { raceForDead, raceForFree } from './lock-runs.ts'

test('of two processes that take a Session at once one has it, and the other hears who', async () => {
  expect(await raceForFree({ seed: 1, rounds: 5, folder: await freshFolder() })).toEqual([])
})

test('of those who take what a killed process held one has it, and its Log tells from whom', async () => {
  const run = { seed: 1, rounds: 5, folder: await freshFolder() }
  expect((await raceForDead(run)).violations).toEqual([])
})
