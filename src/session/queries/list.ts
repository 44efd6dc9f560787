import { notFound } from '../../log/fold-log.ts'
import type { LogPlace } from '../../log/place.ts'
import { openReader } from '../../log/reader.ts'
import { ok, type HawserError, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { sessionFold, type SessionState } from '../live/state.ts'

/** One Session of a list. */
export interface ListedSession {
  readonly id: SessionId
  readonly state: SessionState
  /** It was not created here, so it can be read but not continued. */
  readonly foreign: boolean
  /** A process on this machine holds its lock, as far as can be seen without taking it. */
  readonly busy: boolean
  /** Why part of it cannot be read. */
  readonly damage?: HawserError
}

/**
 * Every Session of a workspace, the latest first: by the order of writes on this machine, independent of the clock.
 * Sessions that were never written here follow, by the timestamps in their Logs. An unreadable Session is listed with
 * the reason.
 */
export async function listSessions(place: LogPlace): Promise<readonly ListedSession[]> {
  const all: ListedSession[] = []
  for (const id of await place.logs.list()) {
    const one = await listOne(place, id)
    if (one !== undefined) all.push(one)
  }
  const order = await place.heads.writtenOrder()
  const rank = ({ id }: ListedSession) => order.get(id) ?? NEVER
  return all.toSorted(
    (a, b) => rank(b) - rank(a) || compare(b.state.last_ts, a.state.last_ts) || compare(b.id, a.id),
  )
}

/** One Session as a list shows it. */
export async function findSession(place: LogPlace, id: SessionId): Promise<Result<ListedSession>> {
  const found = await listOne(place, id)
  return found === undefined ? notFound(id) : ok(found)
}

const NEVER = -1

/** `undefined` if it was deleted in the meantime. */
async function listOne(place: LogPlace, id: SessionId): Promise<ListedSession | undefined> {
  const reader = await openReader(place, id)
  const busy = (await place.leases.writerOf(id)) !== undefined
  const unread = { id, state: sessionFold.initial, foreign: false, busy }
  if (!reader.ok) {
    return reader.error.kind === 'not_found' ? undefined : { ...unread, damage: reader.error }
  }
  const { foreign } = reader.value
  const folded = await reader.value.fold(sessionFold)
  await reader.value.close()
  if (!folded.ok) return { ...unread, foreign, damage: folded.error }
  const { state, damage } = folded.value
  return { id, state, foreign, busy, ...(damage === undefined ? {} : { damage }) }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
