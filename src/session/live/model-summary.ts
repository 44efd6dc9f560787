import type { SummarySource } from '../../context/compaction-draft.ts'
import type { CompactionPlan, PlannedCompaction } from '../../context/compaction-plan.ts'
import { missingFacts, summaryIn } from '../../context/written-summary.ts'
import { checkpoint } from '../../prompt/words/checkpoint.ts'
import { SUMMARY_INSTRUCTION } from '../../prompt/words/summary.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { TurnId } from '../../model/ids.ts'

/** Runs a Turn with this message and purpose under the lock that is already held, and returns its id when it has ended. */
export type AskModel = (text: string, purpose: 'summary') => Promise<Result<TurnId>>

interface PreparedPlan {
  readonly plan: CompactionPlan
}

interface WithFallback {
  /** Why the summary consists of excerpts. */
  readonly fallback?: string | undefined
}

interface Steps<P extends PreparedPlan> {
  readonly ask: AskModel
  /** Plans the compaction again, now with this summary. */
  readonly prepare: (summary: SummarySource) => Promise<Result<P>>
}

/**
 * Asks the model for the summary of a planned compaction. If its answer cannot be used, the summary consists of excerpts,
 * and `fallback` says why. Fails with `interrupted` if a person interrupts the call; there is no compaction then.
 */
export async function withModelSummary<P extends PreparedPlan>(
  session: { readonly events: readonly WholeEvent[]; readonly nextSeq: number },
  { data: { tail } }: PlannedCompaction,
  { ask, prepare }: Steps<P>,
): Promise<Result<P & WithFallback>> {
  const hasTail = tail.from_seq < session.nextSeq
  const asked = await ask(SUMMARY_INSTRUCTION, 'summary')
  if (!asked.ok) return asked
  const written = summaryIn(session.events, asked.value)
  if (!written.ok) {
    if (written.error.kind !== 'interrupted') return excerpts(prepare, written.error.message)
    return failed('interrupted', 'The compaction was interrupted. No checkpoint was recorded.')
  }
  // Without a tail, the range also covers the Turn that asked for the summary.
  const from_seq = hasTail ? tail.from_seq : session.nextSeq
  const prepared = await prepare({ by: 'model', from_seq, text: written.value })
  if (!prepared.ok) return prepared
  const why = unusable(prepared.value.plan)
  return why === undefined ? prepared : excerpts(prepare, why)
}

async function excerpts<P extends PreparedPlan>(
  prepare: Steps<P>['prepare'],
  why: string,
): Promise<Result<P & WithFallback>> {
  const fallback = `The summary consists of excerpts, because the model did not write a usable one: ${why}`
  const prepared = await prepare({ by: 'fallback' })
  return prepared.ok ? ok({ ...prepared.value, fallback }) : prepared
}

/** Why a plan with the summary of the model is not recorded. */
function unusable(plan: CompactionPlan): string | undefined {
  if (!plan.compactable) {
    const { tokens_least, target } = plan
    return `With the summary of the model, the next request would have ${tokens_least} tokens; the target is ${target}.`
  }
  const { carried } = plan.data
  const text = checkpoint({ ...plan.data, summary: '' })
  const missing = carried === undefined ? [] : missingFacts(carried, text)
  return missing.length === 0
    ? undefined
    : `The checkpoint would not contain ${missing.length} facts that it has to carry.`
}
