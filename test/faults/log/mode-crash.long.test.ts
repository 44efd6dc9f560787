import { expect, test } from 'vitest'
import { modeCrashes } from './mode-crash-runs.ts'

test('after a crash or kill at any step, an acknowledged mode is in force, and any other was in the Log', async () => {
  expect(await modeCrashes({}, 8)).toEqual([])
})
