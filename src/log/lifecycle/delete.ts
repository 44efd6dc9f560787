import { asResult, closing } from '../../host/files/files.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { forget, readFamilies } from './families.ts'
import { notFound } from '../fold-log.ts'
import type { LogStores } from '../place.ts'

/**
 * Deletes a Session: its Log and everything that belongs only to it. Refused while it is being written. It is hidden first, and
 * its Log is deleted last, so that `removeHidden` finds what a crash left. If forks need it, `removeHidden` deletes the Log later.
 */
export async function deleteLog(stores: LogStores, session: SessionId): Promise<Result<void>> {
  const { logs, leases } = stores
  return asResult('delete the Session', () =>
    leases.alone(async () => {
      const log = await logs.open(session)
      // Asked before the lease is taken, which leaves a trace.
      if (log === undefined || (await logs.isHidden(session))) {
        await log?.close()
        return notFound(session)
      }
      return closing(log, async () => {
        const lease = await leases.take(session)
        if (!lease.ok) return lease
        try {
          const families = await readFamilies(stores)
          await logs.hide(session, lease.value)
          await forget(stores, session)
          if (!families.isNeeded(session)) await logs.delete(session, lease.value)
          return ok(undefined)
        } finally {
          await lease.value.release()
        }
      })
    }),
  )
}
