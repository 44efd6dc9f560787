import { closing, FileFailure } from '../host/files/files.ts'
import type { SessionId } from '../model/ids.ts'
import type { HeadRecord } from './head-record.ts'
import type { Fence } from './lease-store.ts'
import type { ReadableLog } from './log-store.ts'
import type { LogPlace, LogStores } from './place.ts'
import { forkOf } from './lineage-log.ts'
import { findTornTail } from './repair.ts'
import { scan } from './scan.ts'

/**
 * Whether creating a Log was interrupted or is in progress: nothing of it was acknowledged, so for everyone but its creator
 * the Session does not exist. An empty Log whose head names a line is different: it was truncated. A fork is begun when its head
 * names a line, because until then nothing vouches for what it claims to inherit.
 */
export async function isUnbegun(
  file: ReadableLog,
  session: SessionId,
  head: HeadRecord | undefined,
): Promise<boolean> {
  if (head !== undefined && head.seq !== -1) return false
  if ((await file.stat()).size === 0) return true
  if (head === undefined) return false
  if (file.lineage !== undefined) return true
  const end = await scan(file, { session, strict: false }, () => false)
  return end.cursor.offset === 0 && (await findTornTail(file, session, end)) !== undefined
}

/**
 * Removes Logs that were created but never written, with their heads, unless they are being created now. A Log with any
 * content stays, unless it is a fork. Leases stay too. Returns how many there were; `dryRun` removes nothing.
 */
export async function removeUnbegun(
  place: LogPlace,
  { dryRun }: { readonly dryRun: boolean },
): Promise<number> {
  let count = 0
  for (const session of await place.logs.list()) {
    if (!(await isEmpty(place, session))) continue
    const lease = await place.leases.take(session)
    if (!lease.ok) continue
    try {
      // Its creator may have written to it since.
      if (!(await isEmpty(place, session))) continue
      if (!dryRun) await removeLog(place, session, lease.value)
      count += 1
    } finally {
      await lease.value.release()
    }
  }
  return count
}

/** Removes a Log without acknowledged Events, then its head. The caller holds the lease. */
export async function removeLog(
  { logs, heads }: Pick<LogStores, 'logs' | 'heads'>,
  session: SessionId,
  fence: Fence,
): Promise<void> {
  await logs.delete(session, fence)
  await heads.remove(session)
}

async function isEmpty(place: LogPlace, session: SessionId): Promise<boolean> {
  try {
    const head = await place.heads.read(session)
    if (!head.ok || (head.value?.seq ?? -1) !== -1) return false
    const file = await place.logs.open(session)
    if (file === undefined) return false
    return await closing(file, async () => {
      if ((await file.stat()).size === 0) return true
      return head.value !== undefined && (await forkOf(file, session)) !== undefined
    })
  } catch (error) {
    // A Log that cannot be opened is left alone.
    if (error instanceof FileFailure) return false
    throw error
  }
}
