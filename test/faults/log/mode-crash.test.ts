import { expect, test } from 'vitest'
import { modeCrash, modeSteps } from './mode-crash-runs.ts'

async function offences(story: Parameters<typeof modeCrash>[2], seeds: number): Promise<string[]> {
  const steps = await modeSteps()
  expect(steps).toBeGreaterThan(60)
  const found: string[] = []
  for (let seed = 1; seed <= seeds; seed += 1)
    for (let step = 1; step <= steps; step += 1) found.push(...(await modeCrash(seed, step, story)))
  return found
}

test('after a crash or kill at any step, an acknowledged mode is in force, and any other was in the Log', async () => {
  expect(await offences({}, 3)).toEqual([])
})

test('a writer that acknowledges a mode before the head covers it is caught', async () => {
  const found = await offences({ withoutHead: true }, 1)
  expect(found.filter((offence) => offence.includes('auto is acknowledged'))).not.toEqual([])
})
