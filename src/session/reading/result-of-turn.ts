import { turnResult, type TurnResult } from '../../history/results/turn-result.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventEnvelope, WholeEvent } from '../../model/events/event.ts'
import type { TurnId } from '../../model/ids.ts'
import { readLog, type ReadParts } from './read-log.ts'
import type { KnownSession } from './whole-session.ts'

/**
 * The result of a Turn that has ended. That of a repeated message may be among those that a checkpoint replaced: those are
 * only in the Log.
 */
export async function resultOfTurn(
  log: ReadParts,
  { id, events }: KnownSession,
  turn: TurnId,
): Promise<Result<TurnResult>> {
  if (events.some(({ turn_id }) => turn_id === turn)) return ok(turnResult(events, turn))
  // Those of no Turn may have to be reported with it, unless an earlier Turn did.
  let own: WholeEvent[] = []
  const isWanted = ({ turn_id, type }: EventEnvelope) =>
    turn_id === turn || turn_id === undefined || type === 'turn_ended'
  const read = await readLog(log, id, { isWanted }, ({ event }) => {
    if (event?.type === 'turn_ended' && event.turn_id !== turn)
      own = own.filter(({ turn_id }) => turn_id === turn)
    else if (event !== undefined) own.push(event)
    return event?.type === 'turn_ended' && event.turn_id === turn ? false : undefined
  })
  return read.ok ? ok(turnResult(own, turn)) : read
}
