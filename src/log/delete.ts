import { asResult, closing } from '../host/files/files.ts'
import { ok, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { notFound } from './fold-log.ts'
import type { LogStores } from './place.ts'

/**
 * Deletes a Session: its Log and everything that belongs only to it. Refused while it is being written. The Log is deleted
 * first: anything that remains after a crash is then unreferenced and harmless.
 */
export async function deleteLog(
  { logs, heads, leases, indexes }: LogStores,
  session: SessionId,
): Promise<Result<void>> {
  return asResult('delete the Session', async () => {
    const log = await logs.open(session)
    // Asked before the lease is taken, which leaves a trace.
    if (log === undefined) return notFound(session)
    return closing(log, async () => {
      const lease = await leases.take(session)
      if (!lease.ok) return lease
      try {
        await logs.delete(session, lease.value)
        await indexes.remove(session)
        await heads.remove(session)
        await heads.settle()
        return ok(undefined)
      } finally {
        await lease.value.release()
      }
    })
  })
}
