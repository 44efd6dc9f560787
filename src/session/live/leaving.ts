import type { Result } from '../../model/errors.ts'

/** Calls `leave` if `work` fails or throws; on success, the caller keeps what it acquired. */
export async function leavingUnless<T>(
  leave: () => void | Promise<void>,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  let kept = false
  try {
    const result = await work()
    kept = result.ok
    return result
  } finally {
    if (!kept) await leave()
  }
}

/** Calls `leave` after `work`, even if it fails or throws. */
export async function leavingAfter<T>(
  leave: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } finally {
    await leave()
  }
}
