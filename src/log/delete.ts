import { asResult, ifThere } from '../host/files/files.ts'
import { ok, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { notFound } from './fold-log.ts'
import { takeLease } from './lease.ts'
import { indexName, logName, tornName, type LogPlace } from './place.ts'

/**
 * Deletes a Session: its Log and everything that belongs only to it. Refused while it is being written. The lease file
 * stays, because an unlinked lock file excludes no other process. The Log is deleted first: anything that remains after a crash
 * is then unreferenced and harmless.
 */
export async function deleteLog(place: LogPlace, session: SessionId): Promise<Result<void>> {
  return asResult('delete the Session', async () => {
    const names = new Set(await place.sessions.names())
    if (!names.has(logName(session))) return notFound(session)
    const lease = await takeLease(place, session)
    if (!lease.ok) return lease
    try {
      await place.sessions.remove(logName(session))
      await place.sessions.sync()
      const torn = [...names].filter((name) => name.startsWith(tornName(session, '')))
      for (const name of [indexName(session), ...torn]) {
        await ifThere(place.sessions.remove(name))
      }
      await place.sessions.sync()
      await ifThere(place.heads.remove(session))
      await place.heads.sync()
      return ok(undefined)
    } finally {
      await lease.value.release()
    }
  })
}
