import type { SessionUpdate as Update } from '@agentclientprotocol/sdk'
import type { EphemeralData, WholeEvent } from '../../model/events/event.ts'
import { notice, type Severity } from './notice.ts'
import type { ClientOffers } from './protocol.ts'
import { textBlock } from './tool-call.ts'

type Offers = Pick<ClientOffers, 'notices' | 'compaction'>

/** How full the window of the model is. Pure. */
export function pressureUpdates(data: EphemeralData<'context_pressure'>): readonly Update[] {
  const { input_tokens: used, window_tokens: size } = data
  if (size === undefined) return []
  return [{ sessionUpdate: 'usage_update', used, size, _meta: { hawser: data } }]
}

/** What an editor says about a tier of pressure, by the code of its Event: the commands there are not those of a terminal. */
const TIERS: ReadonlyMap<string, readonly [Severity, string]> = new Map([
  ['context_advisory', ['info', "The model's window is filling up. /compact makes room."]],
  ['context_warning', ['info', "The model's window is nearly full. /compact makes room."]],
  ['context_critical', ['warning', "The model's window is almost full. /compact makes room."]],
])

/** A tier that was reached, with its facts; `undefined` for any other notice. Pure. */
export function tierWords({
  code,
  text,
}: WholeEvent<'notice'>['data']): readonly [Severity, string, object] | undefined {
  const tier = TIERS.get(code)
  return tier && [...tier, { code, text }]
}

/**
 * A checkpoint that was recorded, for clients that show compactions, or at least notices; a client that asked for one
 * is answered anyway. `undefined` if the client must be informed in another way. Pure.
 */
export function compactionUpdates(
  { id, data }: WholeEvent<'history_compaction'>,
  { notices, compaction }: Offers,
  past: boolean,
): readonly Update[] | undefined {
  const { trigger, strategy, tokens_before, tokens_after, summary, limitations = [] } = data
  const facts = { trigger, strategy, tokens_before, tokens_after, limitations }
  if (!compaction) {
    if (past || trigger === 'manual') return []
    return notices ? [notice('info', COMPACTED, facts)] : undefined
  }
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

const COMPACTED = 'The Session was compacted to make room in the window of the model.'
