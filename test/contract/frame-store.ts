import { describe, expect, test } from 'vitest'
import { FRAME_LOG_CASES } from './frame-store/log-cases.ts'
import { CRASH_CASES } from './frame-store/crash-cases.ts'
import { HOLDER_CASES } from './frame-store/holder-cases.ts'
import { READING_CASES } from './frame-store/reading-cases.ts'
import { STORE_CASES } from './frame-store/store-cases.ts'
import { closeHeld, type FrameCase, type FramesUnderTest } from './frame-store/under-test.ts'

/** Every promise of `FrameStore`, with what shows that it is kept. A case throws if it is not. */
export const FRAME_STORE_CASES: readonly FrameCase[] = [
  ...READING_CASES,
  ...HOLDER_CASES,
  ...STORE_CASES,
  ...FRAME_LOG_CASES,
  ...CRASH_CASES,
]

/** What every store of frames must do, whatever its storage. */
export function frameStoreContract(
  name: string,
  has: 'ends' | 'program',
  make: () => Promise<FramesUnderTest>,
): void {
  describe(name, () => {
    for (const { title, run, crashes, processes } of FRAME_STORE_CASES) {
      if ((crashes && has !== 'ends') || (processes && has !== 'program')) continue
      test(title, async () => {
        const under = await make()
        await expect(run(under)).resolves.toBeUndefined()
        await closeHeld()
        await under.close()
      })
    }
  })
}
