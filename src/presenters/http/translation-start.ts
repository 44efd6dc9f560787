import type { EventEnvelope } from '../../model/events/event.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { TurnId } from '../../model/ids.ts'
import type { AttachedSession } from './attached-session.ts'

/** Where a stream starts: with which Event, and which model answers there. */
export interface StreamStart {
  readonly seq: number
  readonly provider: string
  readonly model: string
}

/** The start of an earlier Turn. Reads the Log up to it. */
export function startOfTurn(attached: AttachedSession, turn: TurnId): Promise<Result<StreamStart>> {
  return startWhere(attached, (raw) => raw.type === 'turn_started' && raw.turn_id === turn)
}

/** The Event after number `after_seq`. Reads the Log up to it, unless it is the next one to be written. */
export async function startAfter(
  attached: AttachedSession,
  after_seq: number,
): Promise<Result<StreamStart>> {
  const { state, nextSeq } = attached.session
  const { provider, model } = state
  if (after_seq + 1 >= nextSeq) return ok({ seq: nextSeq, provider, model })
  // The model is among the first Events, which the reader gets.
  if (after_seq < 0) return ok({ seq: 0, provider, model })
  return startWhere(attached, ({ seq }) => seq > after_seq)
}

async function startWhere(
  { session, holding }: AttachedSession,
  isStart: (raw: EventEnvelope) => boolean,
): Promise<Result<StreamStart>> {
  let { provider, model } = session.state
  let start = session.nextSeq
  const { harness } = holding.workspace
  const read = await harness.read(session.id, { types: NAMING }, ({ raw, event }) => {
    if (isStart(raw)) {
      start = raw.seq
      return false
    }
    if (event !== undefined && 'provider' in event.data) provider = event.data.provider ?? provider
    if (event !== undefined && 'model' in event.data) model = event.data.model ?? model
    return undefined
  })
  return read.ok ? ok({ seq: start, provider, model }) : read
}

const NAMING = ['session_started', 'session_settings'] as const
