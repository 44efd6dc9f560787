import type { WholeEvent } from '../../model/events/event.ts'
import type { TurnNotice } from '../parts/turn-parts.ts'

/** The ephemeral event of the compaction that was recorded last: how full the window is now, by estimate. Pure. */
export function compactionNotice(
  events: readonly WholeEvent[],
  window_tokens: number | undefined,
): TurnNotice {
  const last = events.findLast(
    (event): event is WholeEvent<'history_compaction'> => event.type === 'history_compaction',
  )
  const input_tokens = last?.data.tokens_after ?? 0
  return {
    type: 'context_pressure',
    data: {
      tier: 'recovery',
      input_tokens,
      ...(window_tokens === undefined
        ? {}
        : { ratio: input_tokens / window_tokens, window_tokens }),
      estimated: true,
      ...(last === undefined ? {} : { trigger: last.data.trigger, compaction_event_id: last.id }),
    },
  }
}
