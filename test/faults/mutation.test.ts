import { expect, test } from 'vitest'
import { mutateOnce, originalLog } from './mutation-runs.ts'

test('a Log that was changed in any way is noticed, and no wrong event is read from it', async () => {
  const original = await originalLog()
  for (let seed = 1; seed <= 800; seed++) {
    expect({ seed, offences: await mutateOnce(original, seed) }).toEqual({ seed, offences: [] })
  }
})
