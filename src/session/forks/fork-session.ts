import {
  forkLog,
  type ForkBegin,
  type ForkedLog,
  type ForkPoint,
} from '../../log/lifecycle/fork.ts'
import { inheritedId } from '../../log/inherited.ts'
import { failed, ok, type Failed, type NextAction, type Result } from '../../model/errors.ts'
import type { EventData } from '../../model/events/event.ts'
import { SessionId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { narrower } from '../../model/modes.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { sessionFold, type SessionState } from '../live/state.ts'
import { readLog } from '../reading/read-log.ts'

/** Where to fork: at the end, after an Event, or after a Turn, counted from 1. */
export type ForkAt = { readonly seq: number } | { readonly turn: number } | undefined

/** What a fork shares, and with whom. `asked_seq`: the Event that was asked for, if the Session could not be forked there. */
export type ForkResult = ForkedLog

/** Creates a Session that shares the Log of another up to a point. */
export async function forkSession(
  parts: SessionParts['log'],
  session: SessionId,
  at: ForkAt,
): Promise<Result<ForkResult>> {
  const last = await lastShared(parts, session, at)
  if (!last.ok) return last
  const { place, store } = parts
  return forkLog(place, session, {
    fold: sessionFold,
    keep: (bytes, type) => store.put([bytes], type),
    at: last.value,
    isBoundary: ({ turn_open }) => !turn_open,
    begin: beginChild,
  })
}

async function lastShared(
  parts: SessionParts['log'],
  session: SessionId,
  at: ForkAt,
): Promise<Result<number | undefined>> {
  if (at === undefined) return ok(undefined)
  if ('seq' in at) return isCount(at.seq) ? ok(at.seq) : notACount(session, 'seq', at.seq)
  return isCount(at.turn) && at.turn > 0
    ? endOfTurn(parts, session, at.turn)
    : notACount(session, 'turn', at.turn)
}

/** The number of the Event that ends a Turn, or of the last one if it has not ended. */
async function endOfTurn(
  parts: SessionParts['log'],
  session: SessionId,
  turn: number,
): Promise<Result<number>> {
  let turns = 0
  let last: number | undefined
  let hasEnd = false
  const read = await readLog(parts, session, { types: [] }, ({ raw: { type, seq } }) => {
    if (type === 'turn_started') turns += 1
    if (turns > turn) return false
    if (turns === turn && (last === undefined || type !== 'turn_started')) last = seq
    hasEnd = turns === turn && type === 'turn_ended'
    return hasEnd ? false : undefined
  })
  if (!read.ok) return read
  const { damage } = read.value
  if (damage !== undefined && !hasEnd) return { ok: false, error: damage }
  if (last !== undefined) return ok(last)
  const text = `There is no Turn ${turn} in this Session.`
  return failed('not_found', text, { turns }, [numbersOf(session)])
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** The refusal of a number of an Event or a Turn that none can have. */
export function notACount(session: SessionId, name: 'seq' | 'turn', value: number): Failed {
  const text = `${name} must be a whole number, ${name === 'turn' ? 'from 1' : 'from 0'}; it is ${value}.`
  return failed('invalid_args', text, { [name]: value }, [numbersOf(session)])
}

/** Where the numbers of Turns and Events can be seen. */
export function numbersOf(session: SessionId): NextAction {
  const action = 'Show the Turns and Events of the Session, with their numbers.'
  return { action, command: `hawser log show ${session}` }
}

/** The child starts with what held at the point; its permission mode is at most the one that the parent has now. */
function beginChild(
  { cursor, state, parent, now }: ForkPoint<SessionState>,
  child: SessionId,
): ForkBegin<SessionState> {
  const { newest, count } = state.resources
  const inherited = newest.map((id) => ({ parent: id, own: inheritedId(child, id) }))
  const resources = inherited
    .slice(-LIMITS.fork_resources)
    .map((id) => ({ parent_resource_id: id.parent, resource_id: id.own }))
  const { provider, model, mode, title } = state
  const data: EventData<'session_fork'> = {
    parent_session_id: parent,
    at_seq: cursor.seq - 1,
    at_hash: cursor.prev ?? '',
    at_offset: cursor.offset,
    root_session_id: SessionId.parse(state.root_session_id),
    ...(resources.length === 0 ? {} : { resources }),
    resources_count: count,
    turns: state.turns,
    provider,
    model,
    mode: now.mode === 'plan' ? 'plan' : mode,
    permission_mode: narrower(state.permission_mode, now.permission_mode),
    title,
  }
  const own = { ...state, resources: { count, newest: inherited.map((id) => id.own) } }
  return { state: own, first: [{ type: 'session_fork', data }] }
}
