import { withPosition } from '../../context/compaction-draft.ts'
import type { CompactionPlan } from '../../context/compaction-plan.ts'
import { planPreflight, planRecovery } from '../../context/recovery-plan.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData } from '../../model/events/event.ts'
import { compactionNotice } from './compaction-notice.ts'
import type { TurnParts } from '../parts/turn-parts.ts'

type Trigger = EventData<'history_compaction'>['trigger']

/** What a compaction inside a Turn may do. */
export interface TurnCompaction {
  readonly trigger: Exclude<Trigger, 'manual' | 'policy_auto'>
  /** The most tokens of the next request, after the provider refused more. */
  readonly target?: number | undefined
}

/**
 * Compacts the conversation of a running Turn, which itself stays as it is except for long outputs. Returns the estimated
 * tokens of the next request; `undefined` if there is too little to compact.
 */
export async function compactInTurn(
  parts: Pick<TurnParts, 'log' | 'model' | 'context'>,
  { trigger, target }: TurnCompaction,
): Promise<Result<number | undefined>> {
  const { log, model, context } = parts
  // Results that are not recorded yet belong to the conversation.
  const flushed = await log.commit([])
  if (!flushed.ok) return flushed
  const { surface, facts } = model
  const options = {
    trigger,
    surface,
    window: facts?.window_tokens,
    pointers: surface.tools.some(({ name }) => name === 'history_search'),
    active: log.turn,
    limits: context.limits,
    target,
  }
  const plan: CompactionPlan =
    trigger === 'critical_pressure_preflight'
      ? planPreflight(log.events(), options)
      : planRecovery(log.events(), options)
  if (!plan.compactable) return ok(undefined)
  const data = withPosition(plan.data, log.positionOf)
  const recorded = await log.commit([{ type: 'history_compaction', data }])
  if (!recorded.ok) return recorded
  log.publish(compactionNotice(log.events(), facts?.window_tokens))
  return ok(data.tokens_after)
}
