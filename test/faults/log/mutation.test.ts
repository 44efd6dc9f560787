import { expect, test } from 'vitest'
import { mutateIndexOnce, mutateOnce, originalLog } from './mutation-runs.ts'

test('a changed Log is detected, and no wrong Event is read from it', async () => {
  const original = await originalLog()
  for (let seed = 1; seed <= 120; seed++) {
    expect({ seed, offences: await mutateOnce(original, seed) }).toEqual({ seed, offences: [] })
  }
})

test('an index with a flipped bit leads to the same state and damages no Log', async () => {
  const original = await originalLog()
  for (let seed = 1; seed <= 60; seed++) {
    const offences = await mutateIndexOnce(original, seed)
    expect({ seed, offences }).toEqual({ seed, offences: [] })
  }
})
