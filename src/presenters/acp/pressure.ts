import type { SessionUpdate as Update } from '@agentclientprotocol/sdk'
import type { EphemeralData, WholeEvent } from '../../model/events/event.ts'
import { notice } from './notice.ts'
import type { ClientOffers } from './protocol.ts'
import { textBlock } from './tool-call.ts'

/** How full the window of the model is. An Event announces a tier, so only a recovery needs a notice. Pure. */
export function pressureUpdates(
  data: EphemeralData<'context_pressure'>,
  { notices }: Pick<ClientOffers, 'notices'>,
): readonly Update[] {
  const { tier, input_tokens: used, window_tokens: size } = data
  const _meta = { hawser: data }
  const usage: Update[] =
    size === undefined ? [] : [{ sessionUpdate: 'usage_update', used, size, _meta }]
  return tier === 'recovery' && notices ? [...usage, notice('info', RECOVERED, data)] : usage
}

const RECOVERED = 'The Session was compacted to make room in the window of the model.'

/** A checkpoint that was recorded. Only for clients that offer to show compactions. Pure. */
export function compactionUpdates({
  id,
  data,
}: WholeEvent<'history_compaction'>): readonly Update[] {
  const { trigger, strategy, tokens_before, tokens_after, summary, limitations = [] } = data
  const facts = { trigger, strategy, tokens_before, tokens_after, limitations }
  return [
    {
      sessionUpdate: 'compaction_update',
      compactionId: id,
      status: 'completed',
      ...(summary === undefined ? {} : { summary: [textBlock(summary)] }),
      _meta: { hawser: facts },
    },
  ]
}
