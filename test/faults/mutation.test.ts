import { expect, test } from 'vitest'
import { mutateIndexOnce, mutateOnce, originalLog } from './mutation-runs.ts'

test('a Log that was changed in any way is noticed, and no wrong event is read from it', async () => {
  const original = await originalLog()
  for (let seed = 1; seed <= 800; seed++) {
    expect({ seed, offences: await mutateOnce(original, seed) }).toEqual({ seed, offences: [] })
  }
})

test('an index with any flipped bit leads to the same state and harms no Log', async () => {
  const original = await originalLog()
  for (let seed = 1; seed <= 300; seed++) {
    const offences = await mutateIndexOnce(original, seed)
    expect({ seed, offences }).toEqual({ seed, offences: [] })
  }
})
