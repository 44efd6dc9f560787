import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { runKills } from './kill-runs.ts'

test('a writer killed at any moment loses nothing acknowledged and leaves a Log that opens', async () => {
  const folder = await freshFolder()
  const { violations, events } = await runKills({ seed: 1, kills: 8, lanes: 2, folder })
  expect(violations).toEqual([])
  expect(events).toBeGreaterThan(0)
})
