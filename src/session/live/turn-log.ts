import type { LogPlace } from '../../log/place.ts'
import type { LogWriter } from '../../log/append.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import { ResourceNames } from '../../turn/parts/resource-names.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'
import type { SessionLog } from './session-log.ts'
import type { SessionState } from './state.ts'

interface LoggedSession extends Pick<TurnParts['log'], 'resourceNamed' | 'placeOf'> {
  readonly id: SessionId
  readonly events: readonly WholeEvent[]
}

interface LogAccess extends Pick<TurnParts['log'], 'store'> {
  readonly log: SessionLog
  readonly writer: LogWriter<SessionState>
  readonly place: LogPlace
  /** The Turn that continues; a new one by default. */
  readonly turn?: TurnId | undefined
}

/** The part of the Log that a Turn uses. */
export function turnLog(
  session: LoggedSession,
  { log, writer, store, place: { ids, clock }, turn = ids.turn() }: LogAccess,
): TurnParts['log'] {
  const { id } = session
  const events = () => session.events
  return {
    session: id,
    turn,
    events,
    commit: (drafts) => log.commit(writer, turn, drafts),
    recordedText: (text) => log.recordedText(text),
    publish: (notice) => log.notice({ ...notice, session_id: id, turn_id: turn }),
    store,
    names: new ResourceNames(ids, events),
    resourceNamed: (handle) => session.resourceNamed(handle),
    placeOf: (seq) => session.placeOf(seq),
    clock,
  }
}
