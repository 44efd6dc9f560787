import { expect, test } from 'vitest'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { runCuts, someCuts } from './stream-cut-runs.ts'

/** `npm run test:faults -- stream-cut` cuts after every byte. */
test('a Turn whose answer is cut at many points ends once with the true status, and the next one works', async () => {
  const folder = await freshFolder()
  const runs = VENDOR_DIALECTS.map((dialect) => {
    const cuts = someCuts(dialect, 17, 3)
    expect(cuts.length).toBeGreaterThan(200)
    return runCuts({ dialect, cuts, folder, wholeAfter: 3 })
  })
  expect((await Promise.all(runs)).flat()).toEqual([])
})
