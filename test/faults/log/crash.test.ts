import { expect, test } from 'vitest'
import { crashOnce, crashTwice, killOnce, killThenCrash, storySteps } from './crash-runs.ts'

// Every step once, and every third for what takes two faults. The long test has more seeds and the planted bugs.

test('a power cut at any step loses nothing acknowledged and leaves a Log that opens [TI-026]', async () => {
  const steps = await storySteps()
  expect(steps).toBeGreaterThan(100)
  for (let cutAt = 1; cutAt <= steps; cutAt++) {
    expect({ cutAt, offences: await crashOnce(cutAt, cutAt) }).toEqual({ cutAt, offences: [] })
  }
})

test('a kill at any step loses nothing acknowledged and leaves a Log that opens', async () => {
  const steps = await storySteps()
  for (let cutAt = 1; cutAt <= steps; cutAt++) {
    expect({ cutAt, offences: await killOnce(cutAt, cutAt) }).toEqual({ cutAt, offences: [] })
  }
})

test('a power cut after a kill loses nothing that the next writer acknowledged', async () => {
  const steps = await storySteps()
  for (let cutAt = 1; cutAt <= steps; cutAt += 3) {
    expect({ cutAt, offences: await killThenCrash(cutAt, cutAt) }).toEqual({ cutAt, offences: [] })
  }
})

test('a second power cut during the recovery from the first loses nothing acknowledged either', async () => {
  const steps = await storySteps()
  for (let seed = 1; seed <= 60; seed++) {
    expect({ seed, offences: await crashTwice(seed, steps) }).toEqual({ seed, offences: [] })
  }
})
