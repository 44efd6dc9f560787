import { WITHOUT_SANDBOX } from '../../history/ran-commands.ts'
import { elapsedMs } from '../../host/clock.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, EventDraft } from '../../model/events/event.ts'
import { planHydration, type HydrationPlan } from '../../skills/hydration-plan.ts'
import type { HydrationOutcome } from '../../tools/tool.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import type { CallRoom } from '../resources/request-room.ts'
import { toolResources } from '../resources/tool-resources.ts'
import { hydratedOutput } from './hydrated-output.ts'
import { claimOf, type HydrationRequest } from './hydration-request.ts'
import { permitHydration, type HydrationPermission } from './permit.ts'
import { produce } from './produce.ts'
import { complete, failure, type Production } from './production.ts'
import { readingContext, TOUCHES_NOTHING } from './reading-context.ts'

type Hydration = EventData<'skill_context_hydration'>

/**
 * Hydrates a source: plan, decision, recorded decision, run, Event. The Events are returned for the caller to record. Every
 * attempt has one, also if it was denied, failed or interrupted. A failure is a failure of the Log.
 */
export async function hydrate(
  parts: TurnParts,
  request: HydrationRequest,
  room: CallRoom,
): Promise<Result<HydrationOutcome>> {
  const { log, tools } = parts
  const startedAt = log.clock.monotonicMs()
  const attempt = (permission: AttemptPermission, production: Production) =>
    outcomeOf(
      parts,
      request,
      { plan: plan.ok ? plan.value : undefined, startedAt },
      permission,
      production,
    )
  const plan = planHydration(request.source, request.args)
  if (!plan.ok) {
    const { mode } = await tools.posture(TOUCHES_NOTHING)
    return attempt({ mode, decision: 'denied' }, failure(plan.error))
  }
  const permission = await permitHydration(parts, request, plan.value)
  if (!permission.ok) return permission
  const { mode, refusal } = permission.value
  if (refusal !== undefined) {
    const status = refusal.kind === 'interrupted' ? 'interrupted' : 'denied'
    return attempt({ mode, decision: 'denied' }, { status, error: refusal })
  }
  const context = contextOf(parts, request, plan.value)
  const resources = toolResources(parts, room, request.call_id)
  const production = await produce(plan.value, request.source, parts, { ...context, resources })
  if (!production.ok) return production
  return attempt(
    { mode, decision: 'allowed' },
    withSandbox(production.value, plan.value, permission.value),
  )
}

type AttemptPermission = Omit<Hydration['permission'], 'explicit'>

interface Attempt {
  /** Absent if the arguments do not fit the declaration. */
  readonly plan: HydrationPlan | undefined
  readonly startedAt: number
}

async function outcomeOf(
  parts: TurnParts,
  request: HydrationRequest,
  { plan, startedAt }: Attempt,
  permission: AttemptPermission,
  production: Production,
): Promise<Result<HydrationOutcome>> {
  const { log, model } = parts
  const { skill, source, invokedBy } = request
  const { status, error, raw = complete(''), partial = false, view } = production
  const { keep, redactor } = contextOf(parts, request, plan ?? source.from)
  const name = log.names.name.bind(log.names)
  const output = await hydratedOutput(raw, source, { keep, redactor, name })
  if (!output.ok) return output
  const { record, limitations: onOutput, ...fields } = output.value
  const limitations = [
    ...(production.limitations ?? []),
    ...onOutput,
    ...(partial ? ['The tool shortened its output itself.'] : []),
    ...(fields.output !== '' && model.surface.params.late_role === 'user' ? [IN_USER_ROLE] : []),
  ]
  const event: EventDraft<'skill_context_hydration'> = {
    type: 'skill_context_hydration',
    data: {
      skill: { name: skill.data.name, content_sha256: skill.data.content_sha256 },
      activation_event_id: skill.id,
      context_source_id: source.id,
      produced_by: producedBy(plan ?? source.from),
      permission: { ...permission, explicit: invokedBy !== 'auto' },
      invoked_by: invokedBy,
      status,
      ...(error === undefined ? {} : { error }),
      ...fields,
      ...(partial ? { truncated: true } : {}),
      ...(view === undefined ? {} : { resource_id: view.resource_id, handle: view.handle }),
      duration_ms: elapsedMs(log.clock, startedAt),
      ...(limitations.length === 0 ? {} : { limitations }),
    },
  }
  return ok({
    status,
    error,
    bytes: fields.output_bytes,
    record: [...record, event, ...(view?.record ?? [])],
  })
}

const IN_USER_ROLE =
  'This model accepts developer messages only at the start, so the text was sent in a labelled block with the role of the user.'

/** A command that a person allowed without a sandbox was confined by nothing. */
function withSandbox(
  production: Production,
  plan: HydrationPlan,
  { isConfined }: HydrationPermission,
): Production {
  if (plan.kind !== 'command' || isConfined) return production
  const limitations = [...(production.limitations ?? []), WITHOUT_SANDBOX]
  return { ...production, limitations }
}

function contextOf(
  parts: TurnParts,
  request: HydrationRequest,
  plan: HydrationPlan,
): ReturnType<typeof readingContext> {
  const { call_id = request.source.id } = request
  return readingContext(parts, claimOf(request, plan), call_id)
}

function producedBy(plan: HydrationPlan): Hydration['produced_by'] {
  switch (plan.kind) {
    case 'command': {
      const [name = '', ...args] = plan.argv
      return { kind: plan.kind, name, args }
    }
    case 'file':
      return { kind: plan.kind, name: plan.path, args: null }
    case 'resource_view':
      return { kind: plan.kind, name: plan.handle, args: null }
    case 'presenter':
      return { kind: plan.kind, name: plan.fact, args: null }
    case 'tool':
      return { kind: plan.kind, name: plan.name, args: plan.arguments }
    default:
      return plan satisfies never
  }
}
