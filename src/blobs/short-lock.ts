import type { Clock } from '../host/clock.ts'
import { FileFailure, type Folder } from '../host/files/files.ts'
import { wait } from '../host/wait.ts'

/** Never deleted, and no blob key: its lock is what counts. */
const LOCK_NAME = '.lock'
const RETRY_MS = 2
/** Nobody holds it for longer than a few system calls; whoever does is stuck, and waiting would be too. */
const TRIES = 5000

/**
 * Runs `work` while no other `work` on this folder runs, in any process. Between the decision that a blob is old and its
 * removal nobody can renew it, and between the check that it is there and its renewal nobody can remove it. Hold it for a
 * few system calls only.
 */
export async function underShortLock<T>(
  { folder, clock }: { readonly folder: Folder; readonly clock: Clock },
  work: () => Promise<T>,
): Promise<T> {
  const file = await folder.open(LOCK_NAME, 'lease')
  try {
    for (let tries = 1; !(await file.tryLock()); tries++) {
      if (tries === TRIES) throw new FileFailure('LOCK_HELD', 'the lock of the blobs is held')
      await wait(clock, RETRY_MS)
    }
    return await work()
  } finally {
    await file.close()
  }
}
