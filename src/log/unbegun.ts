import { closing, FileFailure, ifThere, type File } from '../host/files/files.ts'
import { SessionId } from '../model/ids.ts'
import { openLogFile } from './fold-log.ts'
import type { HeadRecord } from './head-record.ts'
import { readHead } from './head.ts'
import { takeLease } from './lease.ts'
import { logName, type LogPlace } from './place.ts'
import { findTornTail } from './repair.ts'
import { scan } from './scan.ts'

/**
 * Whether a Log's creation was cut short, or is under way: nothing of it was ever acknowledged, so for everyone but its
 * creator there is no such Session. An empty Log whose head knows a line is not one of these: it was cut.
 */
export async function isUnbegun(
  file: File,
  session: SessionId,
  head: HeadRecord | undefined,
): Promise<boolean> {
  if (head !== undefined && head.seq !== -1) return false
  if ((await file.stat()).size === 0) return true
  if (head === undefined) return false
  const end = await scan(file, { session, strict: false }, () => false)
  return end.cursor.offset === 0 && (await findTornTail(file, session, end)) !== undefined
}

/**
 * Removes Logs that were created and never written, with their heads, where nobody is creating them now. A Log that holds any
 * byte stays. Lease files stay too: see `takeLease`. Returns how many there were; with `dryRun` they stay.
 */
export async function removeUnbegun(
  place: LogPlace,
  { dryRun }: { readonly dryRun: boolean },
): Promise<number> {
  let count = 0
  for (const name of await place.sessions.names()) {
    const session = SessionId.safeParse(name.replace(/\.ndjson$/, '')).data
    if (session === undefined || name !== logName(session)) continue
    if (!(await isEmpty(place, session))) continue
    const lease = await takeLease(place, session)
    if (!lease.ok) continue
    try {
      // Its creator may have written it since.
      if (!(await isEmpty(place, session))) continue
      if (!dryRun) await removeLog(place, session)
      count += 1
    } finally {
      await lease.value.release()
    }
  }
  return count
}

/** Removes a Log of which nothing was acknowledged, then its head. The caller holds the lease. */
export async function removeLog(place: LogPlace, session: SessionId): Promise<void> {
  await ifThere(place.sessions.remove(logName(session)))
  await place.sessions.sync()
  await ifThere(place.heads.remove(session))
}

async function isEmpty(place: LogPlace, session: SessionId): Promise<boolean> {
  try {
    const head = await readHead(place, session)
    if (!head.ok || (head.value?.seq ?? -1) !== -1) return false
    const file = await openLogFile(place, session, 'read')
    return file !== undefined && (await closing(file, () => file.stat())).size === 0
  } catch (error) {
    // What cannot be opened is not ours to remove.
    if (error instanceof FileFailure) return false
    throw error
  }
}
