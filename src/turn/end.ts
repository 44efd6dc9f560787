import type { HawserError, Result } from '../model/errors.ts'
import { failed, ok } from '../model/errors.ts'
import type { EventData, EventDraft } from '../model/events/event.ts'
import type { AnswerCut } from '../model/events/turn-events.ts'
import type { TurnParts } from './parts/turn-parts.ts'
import { NO_USAGE, type UsageTotal } from './usage.ts'

export type TurnEnded = EventData<'turn_ended'>

export type Ending =
  /** The loop ended, or failed before its first call. Without an error the model finished. */
  | {
      readonly how: 'loop'
      readonly error?: HawserError | undefined
      readonly usage?: UsageTotal
      /** Why it was interrupted; absent if a person did it. */
      readonly why?: HawserError | undefined
      /** Why the last answer is incomplete. */
      readonly cut?: AnswerCut | undefined
    }
  /** No part of the message can be sent to a model. */
  | { readonly how: 'refused'; readonly error: HawserError }
  /** The writer crashed; the next one ends the Turn. */
  | { readonly how: 'crashed'; readonly usage: UsageTotal }

/** The reason of an interrupt by a time limit. */
export class TimeLimit {
  readonly seconds: number

  constructor(seconds: number) {
    this.seconds = seconds
  }
}

/** The reason of an interrupt by a process that must end, and whose next one can continue Turns that have no answer yet. */
export const LEAVE_REASON = Object.freeze({ why: 'left' })

const LEFT = 'Hawser stopped during this Turn. Unknown: what else the model would have answered.'

/** The error of a Turn that was interrupted; `undefined` if a person did it. */
export function interruption({ reason }: AbortSignal): HawserError | undefined {
  const why: unknown = reason
  if (why === LEAVE_REASON) return failed('interrupted', LEFT).error
  if (!(why instanceof TimeLimit)) return undefined
  const { seconds } = why
  return failed('timeout', `The Turn timed out: its time limit is ${seconds} s.`, { seconds }).error
}

/** Ends a Turn. `before` is part of the same write: either all of it is durable, or none of it. */
export async function endTurn(
  { commit }: Pick<TurnParts['log'], 'commit'>,
  ending: Ending,
  before: readonly EventDraft[] = [],
): Promise<Result<TurnEnded>> {
  const ended = turnEnded(ending)
  const recorded = await commit([...before, { type: 'turn_ended', data: ended }])
  return recorded.ok ? ok(ended) : recorded
}

function turnEnded(ending: Ending): TurnEnded {
  switch (ending.how) {
    case 'loop': {
      const { error, usage: usage_total = NO_USAGE, cut } = ending
      if (error === undefined) {
        return { status: 'completed', usage_total, ...(cut === undefined ? {} : { cut }) }
      }
      if (error.kind !== 'interrupted') return { status: 'failed', error, usage_total }
      const { why } = ending
      return { status: 'interrupted', ...(why === undefined ? {} : { error: why }), usage_total }
    }
    case 'refused': {
      // The details contain paths of the client: the Log stores only the names in the message.
      const { kind, message } = ending.error
      return { status: 'refused', error: { kind, message }, usage_total: NO_USAGE }
    }
    case 'crashed':
      return { status: 'interrupted', usage_total: ending.usage, crash_recovered: true }
  }
}
