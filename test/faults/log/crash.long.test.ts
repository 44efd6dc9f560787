import { expect, test } from 'vitest'
import { PLANTED_BUGS } from '../../support/host/planted-bugs.ts'
import { crashOnce, crashTwice, killOnce, killThenCrash, storySteps } from './crash-runs.ts'

test('a power cut at any step loses nothing acknowledged and leaves a Log that opens [TI-026]', async () => {
  const steps = await storySteps()
  expect(steps).toBeGreaterThan(100)
  for (let cutAt = 1; cutAt <= steps; cutAt++) {
    for (const seed of [cutAt, cutAt + 10_000, cutAt + 20_000]) {
      expect({ seed, cutAt, offences: await crashOnce(seed, cutAt) }).toEqual({
        seed,
        cutAt,
        offences: [],
      })
    }
  }
})

test('a kill at any step loses nothing acknowledged and leaves a Log that opens', async () => {
  const steps = await storySteps()
  for (let cutAt = 1; cutAt <= steps; cutAt++) {
    expect({ cutAt, offences: await killOnce(cutAt, cutAt) }).toEqual({ cutAt, offences: [] })
  }
})

test('a power cut after a kill at any step loses nothing that the next writer acknowledged', async () => {
  const steps = await storySteps()
  for (let cutAt = 1; cutAt <= steps; cutAt++) {
    for (const seed of [cutAt, cutAt + 10_000]) {
      expect({ seed, cutAt, offences: await killThenCrash(seed, cutAt) }).toEqual({
        seed,
        cutAt,
        offences: [],
      })
    }
  }
})

test('a second power cut during the recovery from the first loses nothing acknowledged either', async () => {
  const steps = await storySteps()
  for (let seed = 1; seed <= 300; seed++) {
    expect({ seed, offences: await crashTwice(seed, steps) }).toEqual({ seed, offences: [] })
  }
})

test.each(PLANTED_BUGS)('the crash disk catches a program that has the bug %s', async (bug) => {
  const steps = await storySteps()
  let caught: string[] = []
  for (let seed = 1; seed <= 1000 && caught.length === 0; seed++) {
    caught = await crashTwice(seed, steps, bug)
  }
  expect(caught).not.toEqual([])
})
