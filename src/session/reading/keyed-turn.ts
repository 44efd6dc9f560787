import { provesMessage } from '../../history/message-keys.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, EventEnvelope } from '../../model/events/event.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import { readLog, type ReadParts } from './read-log.ts'

/** The Turn of a message with a key. */
export interface KeyedTurn {
  readonly turn: TurnId
  /** Undefined while the Turn runs, or if its process was killed and no other has recorded its end. */
  readonly ended: EventData<'turn_ended'> | undefined
}

/**
 * Looks up the Turn of the message with this key in the whole Log, also before a checkpoint. As for `turnOfKey`, a Turn
 * without its message does not count, and `key` is the key as recorded (`SessionLog.recordedText`). Fails if the Log is
 * damaged before the end of that Turn.
 */
export async function keyedTurn(
  parts: ReadParts,
  session: SessionId,
  key: string,
): Promise<Result<KeyedTurn | undefined>> {
  let started: TurnId | undefined
  let found: KeyedTurn | undefined
  const isWanted = ({ type, turn_id }: EventEnvelope) =>
    found === undefined ? type === 'turn_started' : type === 'turn_ended' && turn_id === found.turn
  const read = await readLog(parts, session, { isWanted }, ({ raw, event }) => {
    if (event?.type === 'turn_started' && event.data.source.message_key === key)
      started = event.turn_id
    if (started !== undefined && provesMessage(raw, started))
      found ??= { turn: started, ended: undefined }
    if (event?.type !== 'turn_ended' || found === undefined) return undefined
    found = { ...found, ended: event.data }
    return false
  })
  if (!read.ok) return read
  const { damage } = read.value
  if (damage !== undefined && found?.ended === undefined) return { ok: false, error: damage }
  return ok(found)
}
