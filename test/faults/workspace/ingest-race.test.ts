import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { raceConfinedIngests, raceIngests } from './ingest-race-runs.ts'

test('[AT-030] a link swapped in while a person attaches a file is never followed', async () => {
  const run = { seed: 1, n: 1_000, folder: await freshFolder() }
  expect((await raceIngests(run)).violations).toEqual([])
})

test('[AT-030] links swapped in while a restricted caller attaches a file are never followed', async () => {
  const run = { seed: 1, n: 1_000, folder: await freshFolder() }
  expect((await raceConfinedIngests(run)).violations).toEqual([])
})
