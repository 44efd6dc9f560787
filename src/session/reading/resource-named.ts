import { historyOf, NO_STATE } from '../../history/history.ts'
import { SessionResources, type SessionResource } from '../../history/session-resources.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventType } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { readLog, type ReadParts } from './read-log.ts'
import type { KnownSession } from './whole-session.ts'

/**
 * The Resource with that handle. One from before the checkpoint is looked up in the Log, because the state of a checkpoint
 * may be incomplete, and must not decide whether bytes are shown.
 */
export async function resourceNamed(
  log: ReadParts,
  { id, events }: KnownSession,
  handle: string,
): Promise<Result<SessionResource | undefined>> {
  const history = historyOf(events)
  const raw = new SessionResources({ state: NO_STATE, events: history.events }).byHandle(handle)
  const number = Number(/\d+$/.exec(handle)?.[0] ?? Infinity)
  if (raw !== undefined || history.checkpoint === undefined) return ok(raw)
  if (number > history.state.handle_counter) return ok(undefined)
  const all = await allResources(log, id)
  if (!all.ok) return all
  const found = all.value.byHandle(handle)
  return ok(found === undefined ? undefined : { ...found, earlier: true })
}

/** All Resources of a Log, whatever checkpoints it has. */
async function allResources(log: ReadParts, session: SessionId): Promise<Result<SessionResources>> {
  const resources = new SessionResources()
  const read = await readLog(log, session, { types: ABOUT_RESOURCES }, ({ event }) => {
    if (event !== undefined) resources.add(event)
  })
  if (!read.ok) return read
  const { damage } = read.value
  return damage === undefined ? ok(resources) : { ok: false, error: damage }
}

const ABOUT_RESOURCES: readonly EventType[] = [
  'user_message',
  'resource_ingested',
  'resource_dropped',
  'resource_quarantined',
]
