import { asResult } from '../host/files/files.ts'
import { ok, type HawserError, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { damageError } from './damage.ts'
import { notFound } from './fold-log.ts'
import { openLineage } from './lineage-log.ts'
import type { LogPlace } from './place.ts'
import { findTornTail, headFault } from './repair.ts'
import { scan } from './scan.ts'
import { isAbsent } from './unbegun.ts'

/** The result of reading every byte of a Log, and of those that it continues. */
export interface LogVerdict {
  readonly events: number
  /** Bytes of intact, chained lines. */
  readonly bytes: number
  readonly last_hash: string | null
  /** Events of types or shapes unknown to this version: kept and skipped. */
  readonly unknown: number
  /** Compactions among the Events. */
  readonly compactions: number
  readonly foreign: boolean
  /** Bytes of an interrupted last write; the next writer cuts them off and keeps them. */
  readonly torn_bytes: number
  readonly damage?: HawserError
}

/** Reads the whole Log, with what it inherits, in strict mode and compares it with its head. Writes nothing. */
export async function verifyLog(place: LogPlace, session: SessionId): Promise<Result<LogVerdict>> {
  return asResult('verify the Log', async () => {
    const head = await place.heads.read(session)
    if (!head.ok && head.error.kind !== 'log_damaged') return head
    const known = head.ok ? head.value : undefined
    const file = await openLineage(place.logs, session)
    if (file === undefined) return notFound(session)
    try {
      if (head.ok && (await isAbsent(place, file, session, known))) return notFound(session)
      let events = 0
      let unknown = 0
      let compactions = 0
      const end = await scan(file, { session, strict: true }, ({ content }) => {
        events += 1
        if (!content.isKnown) unknown += 1
        if (content.event.type === 'history_compaction') compactions += 1
      })
      const torn = await findTornTail(file, session, end)
      const unlikeHead = known && (await headFault(file, session, end.cursor, known))
      // A fault is reported first: it also hides the end of the Log.
      const reason = (torn === undefined ? end.fault?.reason : undefined) ?? unlikeHead
      const broken =
        file.lineage?.isBroken === true &&
        damageError(session, file.lineage.start.offset, 'parent_missing')
      return ok({
        events,
        bytes: end.cursor.offset,
        last_hash: end.cursor.prev,
        unknown,
        compactions,
        foreign: head.ok && known === undefined,
        torn_bytes: torn?.bytes.length ?? 0,
        ...(reason === undefined
          ? {}
          : { damage: damageError(session, end.cursor.offset, reason).error }),
        ...(broken === false ? {} : { damage: broken.error }),
        ...(head.ok ? {} : { damage: head.error }),
      })
    } finally {
      await file.close()
    }
  })
}
