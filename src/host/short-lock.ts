import type { Clock } from './clock.ts'
import { wait } from './wait.ts'
import { FileFailure, type Folder } from './files/files.ts'

/** Never deleted; only its lock matters. */
const LOCK_NAME = '.lock'
const RETRY_MS = 2
/** The lock is held for a few system calls only; a holder that takes longer is stuck. */
const TRIES = 5000

/**
 * Runs `work` while no other `work` on this folder runs, in any process: what it reads is still true when it writes. Hold
 * the lock for a few system calls only.
 */
export async function underShortLock<T>(
  { folder, clock }: { readonly folder: Folder; readonly clock: Clock },
  work: () => Promise<T>,
): Promise<T> {
  const file = await folder.open(LOCK_NAME, 'lease')
  try {
    for (let tries = 1; !(await file.tryLock()); tries++) {
      if (tries === TRIES) throw new FileFailure('LOCK_HELD', `the lock of ${folder.label} is held`)
      await wait(clock, RETRY_MS)
    }
    return await work()
  } finally {
    await file.close()
  }
}
