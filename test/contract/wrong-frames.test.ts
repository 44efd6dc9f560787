import { expect, test } from 'vitest'
import { WRONG_FRAMES, withDefect } from '../support/tether/wrong-frames.ts'
import { FRAME_STORE_CASES } from './frame-store.ts'
import { closeHeld } from './frame-store/under-test.ts'
import { crashingFiles } from './frame-store/stores.ts'

/** The titles of the promises that a store of frames breaks; the first is enough. */
async function brokenPromise(defect: (typeof WRONG_FRAMES)[number]): Promise<string | undefined> {
  for (const { title, run } of FRAME_STORE_CASES) {
    const under = await crashingFiles((folder) => withDefect(folder, defect))
    const isKept = await run(under).then(
      () => true,
      () => false,
    )
    await closeHeld().catch(() => {})
    if (!isKept) return title
  }
  return undefined
}

test.each(WRONG_FRAMES)('the suite finds the defect %s by itself', async (defect) => {
  expect(await brokenPromise(defect)).toBeDefined()
})
