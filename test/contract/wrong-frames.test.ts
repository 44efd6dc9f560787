import { expect, test } from 'vitest'
import type { Folder } from '../../src/host/files/files.ts'
import { WRONG_FRAMES, withDefect } from '../support/tether/wrong-frames.ts'
import { FRAME_STORE_CASES } from './frame-store.ts'
import { closeHeld } from './frame-store/under-test.ts'
import { crashingFiles } from './frame-store/stores.ts'

/** What the crash disk can judge, which is everything but real processes. */
const CASES = FRAME_STORE_CASES.filter(({ processes }) => processes !== true)

/** The title of the first promise that a store of frames breaks if it uses its folders by `seen`. */
async function brokenPromise(seen: (folder: Folder) => Folder): Promise<string | undefined> {
  for (const { title, run } of CASES) {
    const under = await crashingFiles(seen)
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
  expect(await brokenPromise((folder) => withDefect(folder, defect))).toBeDefined()
})

test.each<[string, (folder: Folder) => Folder]>([
  ['as it is', (folder) => folder],
  ['behind a folder that changes nothing', (folder) => withDefect(folder, 'none')],
])('the suite finds nothing wrong with the store %s', async (_, seen) => {
  expect(await brokenPromise(seen)).toBeUndefined()
})

test('there are at least ten defects', () => {
  expect(WRONG_FRAMES.length).toBeGreaterThanOrEqual(10)
})
