import type { ContextSource } from '../../model/events/context-source.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import { prefixText } from '../../model/rule.ts'
import type { Claim } from '../../policy/claim.ts'
import type { HydrationPlan, SourceArguments } from '../../skills/hydration-plan.ts'

/** A source to hydrate, as its activation declares it. */
export interface HydrationRequest {
  readonly skill: WholeEvent<'skill_activation'>
  readonly source: ContextSource
  readonly args: SourceArguments | undefined
  readonly invokedBy: EventData<'skill_context_hydration'>['invoked_by']
  /** The call of the model that asks for it. */
  readonly call_id?: string | undefined
}

/** What a hydration would access, for rules and for the person who is asked. */
export function claimOf(
  { skill, source }: Pick<HydrationRequest, 'skill' | 'source'>,
  plan: HydrationPlan,
): Claim {
  const { name, source: root, trust } = skill.data
  const hydration = { skill: name, from: `${root} (${trust})`, context_source_id: source.id }
  const base = { tool: 'hydrate_context', network: false }
  if (plan.kind === 'command') {
    const { argv } = plan
    const command = prefixText(argv)
    return { ...base, effect: 'run', paths: [], command, hydration: { ...hydration, argv } }
  }
  const paths = plan.kind === 'file' ? [plan.path] : []
  return { ...base, effect: 'read', paths, hydration }
}

/** What a source gets: the words of a command, or what is read. */
export function argumentVector(plan: HydrationPlan): unknown {
  switch (plan.kind) {
    case 'command':
      return plan.argv
    case 'file':
      return [plan.path]
    case 'resource_view':
      return [plan.handle]
    case 'presenter':
      return [plan.fact]
    case 'tool':
      return [plan.name, plan.arguments]
    default:
      return plan satisfies never
  }
}
