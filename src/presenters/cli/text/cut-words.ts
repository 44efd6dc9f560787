import type { AnswerCut } from '../../../model/events/turn-events.ts'
import { counted } from '../../../encoding/amounts.ts'

/** Why the last answer of a Turn is incomplete, for people. Not yet escaped. Pure. */
export function cutWords({ reason, stop_reason, lost_calls }: AnswerCut): string {
  const what = {
    output_limit: `The answer is incomplete: the model reached its output limit (${stop_reason}).`,
    lost_call: `The answer is incomplete (${stop_reason}).`,
    unknown_reason: `The answer may be incomplete: the provider ended it with an unknown reason (${stop_reason}).`,
  }[reason]
  if (lost_calls === 0) return what
  const calls = lost_calls === 1 ? '1 tool call was' : `${counted(lost_calls, 'tool call')} were`
  return `${what} ${calls} cut off and did not run.`
}
