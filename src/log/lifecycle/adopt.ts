import { asResult } from '../../host/files/files.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { damageError } from '../damage.ts'
import { HEAD_BEFORE_FIRST } from '../head-record.ts'
import { notFound } from '../fold-log.ts'
import {
  brokenLineage,
  closingOnFailure,
  takeOver,
  underLease,
  type TakeOverParts,
  type WriterOptions,
} from '../open.ts'
import { openLineageToWrite } from '../lineage-log.ts'
import type { LogPlace } from '../place.ts'
import { RecordedSettings } from '../recorded-settings.ts'
import { findTornTail } from '../repair.ts'
import { scan } from '../scan.ts'
import { isAbsent } from '../unbegun.ts'

/**
 * Adopts a foreign Session: a person trusts its origin, and all of its lines are intact. Writes its head here. Trusting the
 * content grants no permissions: an Event that revokes what the Log permits is durable before the head is. Does nothing if
 * the Session already has a head.
 */
export async function adoptLog<State>(
  place: LogPlace,
  session: SessionId,
  options: WriterOptions<State>,
): Promise<Result<void>> {
  return asResult('adopt the Log', async () => {
    const head = await place.heads.read(session)
    if (!head.ok) return head
    if (head.value !== undefined) return ok(undefined)
    const log = await openLineageToWrite(place.logs, session)
    if (log === undefined) return notFound(session)
    return closingOnFailure(log, () =>
      underLease(place, session, (lease) =>
        adopt({
          place,
          session,
          file: log.under(lease),
          lease,
          fold: options.fold,
          keep: options.keep,
        }),
      ),
    )
  })
}

async function adopt<State>(parts: TakeOverParts<State>): Promise<Result<void>> {
  const { session, file } = parts
  if (await isAbsent(parts.place, file, session, undefined)) return notFound(session)
  const broken = brokenLineage(session, file)
  if (broken !== undefined) return broken
  const settings = new RecordedSettings()
  const end = await scan(file, { session, strict: true }, ({ content }) => settings.see(content))
  const torn = await findTornTail(file, session, end)
  if (end.fault !== undefined && torn === undefined) {
    return damageError(session, end.fault.offset, end.fault.reason)
  }
  const writer = await takeOver(parts, HEAD_BEFORE_FIRST, {
    isTrusted: true,
    more: settings.narrowingEvents(),
  })
  if (!writer.ok) return writer
  // Without a head it is still foreign.
  if (writer.value.headFailure !== undefined) return { ok: false, error: writer.value.headFailure }
  await writer.value.release()
  return ok(undefined)
}
