import { expect, test } from 'vitest'
import { modeCrashes } from './mode-crash-runs.ts'

// Every step once. The long test has more seeds.

test('after a crash or kill at any step, an acknowledged mode is in force, and any other was in the Log', async () => {
  expect(await modeCrashes({}, 1)).toEqual([])
})

test('a writer that acknowledges a mode before the head covers it is caught', async () => {
  const found = await modeCrashes({ withoutHead: true }, 1)
  expect(found.filter((offence) => offence.includes('auto is acknowledged'))).not.toEqual([])
})
