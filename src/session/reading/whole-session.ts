import { historyOf } from '../../history/history.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventType, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { readLog, type ReadParts } from './read-log.ts'

/** A Session, of whose Events only the raw ones are in memory. */
export interface KnownSession {
  readonly id: SessionId
  readonly events: readonly WholeEvent[]
}

/**
 * The Events of a Session that are of these types, also from before its checkpoint; `keep` chooses among those, so that few
 * are in memory. More Events may be returned if all are known.
 */
export async function eventsOf(
  log: ReadParts,
  { id, events }: KnownSession,
  types: readonly EventType[],
  keep: (event: WholeEvent) => boolean = () => true,
): Promise<Result<readonly WholeEvent[]>> {
  if (historyOf(events).checkpoint === undefined) return ok(events)
  const found: WholeEvent[] = []
  const read = await readLog(log, id, { types }, ({ event }) => {
    if (event !== undefined && keep(event)) found.push(event)
  })
  if (!read.ok) return read
  const { damage } = read.value
  return damage === undefined ? ok(found) : { ok: false, error: damage }
}
