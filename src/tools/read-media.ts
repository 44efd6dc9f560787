import { descriptor as described } from '../prompt/words/resources.ts'
import type { SessionResource } from '../history/session-resources.ts'
import type { ResourceFacts } from '../model/descriptor.ts'
import { failed } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import { LIMITS } from '../model/limits.ts'
import { refusedFile } from './attach.ts'
import { goneViews, notViewable, OUTCOMES, viewOf } from './resource-view.ts'
import { failedOutcome, type ToolContext, type ToolOutcome, type ToolResources } from './tool.ts'

/**
 * Shows an image or PDF of the workspace: it becomes a Resource of the Session, like an attachment of the agent, and the same
 * call views it. If the Session already has the content, its existing Resource is viewed.
 */
export async function shownMedia(path: string, context: ToolContext): Promise<ToolOutcome> {
  const { resources } = context
  const resolved = await resources.ingest(path)
  if (!resolved.ok) return failedOutcome(resolved.error)
  if (!resolved.value.ok) return refusedFile(resolved.value.error)
  const { facts } = resolved.value
  const untaken = resources.notTaken(facts)
  if (untaken !== undefined) {
    const message = `${facts.name} cannot be shown: ${untaken}.`
    return failedOutcome(failed('unsupported_type', message).error)
  }
  const known = sameContent(facts, resources)
  if (known !== undefined) return viewResource(known, context)
  const named = resources.name(facts)
  if (!named.ok) return failedOutcome(named.error)
  const descriptor = named.value
  const outcome = await viewResource({ descriptor }, context)
  const brought: EventDraft = { type: 'resource_ingested', data: { descriptor, origin: 'tool' } }
  return { ...outcome, record: [brought, ...(outcome.record ?? [])], resources: [descriptor] }
}

/** Prefers a Resource that may still be shown. */
function sameContent(
  facts: ResourceFacts,
  { knownResources }: Pick<ToolResources, 'knownResources'>,
): SessionResource | undefined {
  if (facts.kind === 'link') return undefined
  const same = knownResources().all.filter(
    ({ descriptor }) => descriptor.kind !== 'link' && descriptor.blob === facts.blob,
  )
  return same.find(({ goneBy }) => goneBy === undefined) ?? same[0]
}

/** The descriptor and the outcome of the view, as text for the model. */
async function viewResource(
  resource: Pick<SessionResource, 'descriptor' | 'goneBy'>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { descriptor } = resource
  const never = notViewable(resource)
  if (never !== undefined)
    return { ...failedOutcome(never), record: goneViews(resource).map(byModel) }
  const view = await viewOf(resource, {}, context)
  if (!view.ok) return failedOutcome(view.error)
  const { outcome } = view.value.view
  return {
    outcome: OUTCOMES[outcome],
    output: `${described(descriptor, LIMITS.descriptor_bytes)}\n${view.value.message}`,
    record: [byModel(view.value.view)],
  }
}

function byModel(view: ReturnType<typeof goneViews>[number]): EventDraft {
  return { type: 'resource_view', data: { ...view, by: 'model', reason: 'read' } }
}
