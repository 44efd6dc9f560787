import { countOf } from '../encoding/amounts.ts'
import {
  CONTINUED_AFTER_CRASH,
  isContinuation,
  RESENT_AFTER_CRASH,
} from '../history/results/turn-result.ts'
import type { EventDraft, EventType, WholeEvent } from '../model/events/event.ts'
import { notice } from '../model/events/notice.ts'
import type { TurnId } from '../model/ids.ts'
import type { InterruptedCall } from './parts/interrupted-call.ts'
import type { CrashedTurn } from './recover.ts'

/** How often a Turn is continued: one that ends its process each time must end. */
const MOST_CONTINUATIONS = 2

/** What may precede an answer of the model. None of it is an effect, and a request is a fold of it. */
const BEFORE_AN_ANSWER: ReadonlySet<EventType> = new Set([
  'turn_started',
  'user_message',
  'late_context',
  'project_instructions',
  'notice',
  'permission_asked',
  'permission_decision',
  'resource_retired',
  'resource_quarantined',
  'history_compaction',
  'provider_request',
] satisfies EventType[])

/**
 * Whether the Log allows that a Turn of a message with a key continues: its model has answered nothing, so no tool ran and no
 * text is recorded. Whether text was shown that is not recorded, only the caller knows. Pure.
 */
export function mayContinue({
  own,
  openQuestions,
}: Pick<CrashedTurn, 'own' | 'openQuestions'>): boolean {
  const [started] = own
  if (started?.type !== 'turn_started' || messageKeyOf({ own }) === undefined) return false
  if (started.data.purpose !== undefined || openQuestions.length > 0) return false
  // The write of a message and its Turn may have been cut between the two.
  if (own.filter(({ type }) => type === 'user_message').length !== 1) return false
  if (own.filter(isContinuation).length >= MOST_CONTINUATIONS) return false
  return own.every(({ type }) => BEFORE_AN_ANSWER.has(type)) && !isCompactedAfterCall(own)
}

/** The message key of a Turn. */
export function messageKeyOf({ own: [started] }: Pick<CrashedTurn, 'own'>): string | undefined {
  return started?.type === 'turn_started' ? started.data.source.message_key : undefined
}

/** What such a request is compared with is no longer in the Log. */
function isCompactedAfterCall(own: readonly WholeEvent[]): boolean {
  const first = own.findIndex(({ type }) => type === 'provider_request')
  const last = own.findLastIndex(({ type }) => type === 'history_compaction')
  return first !== -1 && last > first
}

/** Recorded before anything else, so that a Turn that ends its process each time is noticed. */
export function continuationNotice({
  own,
  turn,
}: Pick<CrashedTurn, 'own' | 'turn'>): EventDraft<'notice'> {
  const at = own.filter(isContinuation).length + 1
  const count = `${at} of ${countOf(MOST_CONTINUATIONS, 'time')}`
  if (interruptedCall(own, turn)?.sha256 === undefined) {
    const text = `Hawser stopped while no call to the model ran and nothing was shown. The Turn continues (${count}).`
    return notice(CONTINUED_AFTER_CRASH, text)
  }
  const text = `Hawser stopped during a call to the model. Nothing was shown and nothing ran, so the same request is sent again (${count}). The provider may charge for each call.`
  return notice(RESENT_AFTER_CRASH, text)
}

/** The call that a Turn was in when Hawser stopped; `undefined` if it had made none. Pure. */
export function interruptedCall(
  events: readonly WholeEvent[],
  turn: TurnId,
): InterruptedCall | undefined {
  const isRequest = (event: WholeEvent) =>
    event.type === 'provider_request' && event.turn_id === turn
  const last = events.findLast(isRequest)
  if (last?.type !== 'provider_request') return undefined
  const { call_index, attempt, request_sha256 } = last.data
  const since = events.filter(({ seq, turn_id }) => seq > last.seq && turn_id === turn)
  const isRunning = since.every(isContinuation)
  return {
    call_index,
    attempt,
    first: events.findIndex(isRequest),
    sha256: isRunning ? request_sha256 : undefined,
  }
}
