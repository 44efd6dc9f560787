import { asResult } from '../host/files.ts'
import { ok, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { damaged } from './damage.ts'
import { headOf, readHead, writeHead } from './head.ts'
import { takeLease } from './lease.ts'
import { notFound, openLogFile } from './open.ts'
import type { LogPlace } from './place.ts'
import { findTornTail } from './repair.ts'
import { scan } from './scan.ts'

/**
 * Makes a foreign Session one of ours: a person vouched for where it came from, and every line of it is whole. From here
 * on its head is known. Does nothing to a Session that has a head already.
 */
export async function adoptLog(place: LogPlace, session: SessionId): Promise<Result<void>> {
  return asResult('adopt the Log', async () => {
    const head = await readHead(place, session)
    if (!head.ok) return head
    if (head.value !== undefined) return ok(undefined)
    const file = await openLogFile(place, session, 'read')
    if (file === undefined) return notFound(session)
    const lease = await takeLease(place, session)
    try {
      if (!lease.ok) return lease
      const end = await scan(file, { session, strict: true }, () => {})
      const torn = await findTornTail(file, session, end)
      if (end.fault !== undefined && torn === undefined) {
        return damaged(session, end.fault.offset, end.fault.reason)
      }
      await writeHead(place, session, headOf(end.cursor))
      return ok(undefined)
    } finally {
      await file.close()
      if (lease.ok) await lease.value.release()
    }
  })
}
