import { asResult, closing } from '../../host/files/files.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { forget, readFamilies } from './families.ts'
import { notFound } from '../fold-log.ts'
import type { LogStores } from '../place.ts'

/**
 * Deletes a Session: its Log and everything that belongs only to it. Refused while it is being written. The Log is deleted
 * first: anything that remains after a crash is then unreferenced and harmless. If forks need it, it is hidden instead, and
 * `removeHidden` deletes it later.
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
          if (families.isNeeded(session)) await logs.hide(session, lease.value)
          else await logs.delete(session, lease.value)
          await forget(stores, session)
          return ok(undefined)
        } finally {
          await lease.value.release()
        }
      })
    }),
  )
}
