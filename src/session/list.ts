import { openReader } from '../log/reader.ts'
import type { LogPlace } from '../log/place.ts'
import type { HawserError } from '../model/errors.ts'
import { SessionId } from '../model/ids.ts'
import { sessionFold, type SessionState } from './state.ts'

/** One Session of a list. */
export interface ListedSession {
  readonly id: SessionId
  readonly state: SessionState
  /** It did not begin here, so it can be read but not continued. */
  readonly foreign: boolean
  /** Why not all of it can be read. */
  readonly damage?: HawserError
}

/** Every Session of a workspace, the latest first. One that cannot be read is listed with the reason, never left out. */
export async function listSessions(place: LogPlace): Promise<readonly ListedSession[]> {
  const names = await place.sessions.names()
  const ids = names.flatMap((name) =>
    name.endsWith(ENDING) ? (SessionId.safeParse(name.slice(0, -ENDING.length)).data ?? []) : [],
  )
  const all: ListedSession[] = []
  for (const id of ids) {
    const one = await listed(place, id)
    if (one !== undefined) all.push(one)
  }
  return all.toSorted((a, b) => (a.state.last_ts < b.state.last_ts ? 1 : -1))
}

const ENDING = '.ndjson'

/** `undefined` when it went away meanwhile. */
async function listed(place: LogPlace, id: SessionId): Promise<ListedSession | undefined> {
  const reader = await openReader(place, id)
  const unread = { id, state: sessionFold.initial, foreign: false }
  if (!reader.ok) {
    return reader.error.kind === 'not_found' ? undefined : { ...unread, damage: reader.error }
  }
  const { foreign } = reader.value
  const folded = await reader.value.fold(sessionFold)
  await reader.value.close()
  if (!folded.ok) return { ...unread, foreign, damage: folded.error }
  const { state, damage } = folded.value
  return { id, state, foreign, ...(damage === undefined ? {} : { damage }) }
}
