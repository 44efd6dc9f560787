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
 * Whether creating a Log was interrupted or is in progress: nothing of it was acknowledged, so for everyone but its creator
 * the Session does not exist. An empty Log whose head names a line is different: it was truncated.
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
 * Removes Logs that were created but never written, with their heads, unless they are being created now. A Log with any
 * content stays. Lease files stay too; see `takeLease`. Returns how many there were; `dryRun` removes nothing.
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
      // Its creator may have written to it since.
      if (!(await isEmpty(place, session))) continue
      if (!dryRun) await removeLog(place, session)
      count += 1
    } finally {
      await lease.value.release()
    }
  }
  return count
}

/** Removes a Log without acknowledged Events, then its head. The caller holds the lease. */
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
    // A Log that cannot be opened is left alone.
    if (error instanceof FileFailure) return false
    throw error
  }
}
