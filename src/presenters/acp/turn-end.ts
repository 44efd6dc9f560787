import type { StopReason } from '@agentclientprotocol/sdk'
import type { EventData } from '../../model/events/event.ts'

type TurnEnd = EventData<'turn_ended'>

/** What a person must know about the end of a Turn; `undefined` if its answer says it. Pure. */
export function endWords({ status, error, crash_recovered, cut }: TurnEnd): string | undefined {
  if (crash_recovered === true) return 'This Turn was cut off by a crash. It is not run again.'
  if (error !== undefined) {
    const next = (error.next_actions ?? []).map(({ action, command }) =>
      command === undefined ? action : `${action} ${command}`,
    )
    const what = status === 'interrupted' ? '' : 'The Turn failed: '
    return [`${what}${error.message}`, ...next].join('\n\n')
  }
  if (cut !== undefined) return 'The answer is incomplete. To get the rest, send: Continue.'
  return status === 'failed' ? 'The Turn failed.' : undefined
}

/** Why the agent stopped. A failure is reported in a message, because ACP has no reason for it. Pure. */
export function stopReason({
  status,
  error,
  cut,
}: Pick<TurnEnd, 'status' | 'error' | 'cut'>): StopReason {
  switch (status) {
    case 'completed':
      return cut?.reason === 'output_limit' ? 'max_tokens' : 'end_turn'
    case 'interrupted':
      return 'cancelled'
    case 'refused':
      return 'end_turn'
    case 'failed':
      if (error?.kind === 'call_limit') return 'max_turn_requests'
      return error?.kind === 'refused' ? 'refusal' : 'end_turn'
    default:
      return status satisfies never
  }
}
