import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { TurnKillRuns } from './turn-kill-runs.ts'
import { MOMENTS, QUICK_DEATHS } from './turn-kill-scene.ts'

test('a Turn killed at any moment leaves a true Log, repeats nothing, and the next one works', async () => {
  const runs = await TurnKillRuns.prepare(await freshFolder())
  const { violations, by } = await runs.kill(QUICK_DEATHS)
  expect(violations).toEqual([])
  const possible = runs.commands ? MOMENTS : MOMENTS.filter((at) => at !== 'output')
  expect(new Set(by.keys())).toEqual(new Set<string>(possible))
})
