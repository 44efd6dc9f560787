import { asResult, closing } from '../host/files.ts'
import { ok, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { damaged } from './damage.ts'
import { headOf } from './head-record.ts'
import { readHead, writeHead } from './head.ts'
import { takeLease } from './lease.ts'
import { notFound, openLogFile } from './fold-log.ts'
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
    return closing(file, async () => {
      const lease = await takeLease(place, session)
      if (!lease.ok) return lease
      try {
        const end = await scan(file, { session, strict: true }, () => {})
        const torn = await findTornTail(file, session, end)
        if (end.fault !== undefined && torn === undefined) {
          return damaged(session, end.fault.offset, end.fault.reason)
        }
        // A head is never ahead of what is durable, and nobody here has synced this Log yet.
        await file.datasync()
        await place.sessions.sync()
        await writeHead(place, session, headOf(end.cursor))
        return ok(undefined)
      } finally {
        await lease.value.giveBack()
      }
    })
  })
}
