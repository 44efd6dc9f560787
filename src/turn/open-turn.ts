import { overLimitResources } from '../context/over-limit.ts'
import { costlyResources } from '../context/replay-cost.ts'
import type { BlobStore } from '../blobs/store.ts'
import { openWatches } from '../history/open-watch.ts'
import { SessionResources, type SessionResource } from '../history/session-resources.ts'
import { ok, type Result } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import { notViewable, viewOf } from '../tools/resource-view.ts'
import { toolResources } from './tool-resources.ts'
import type { TurnParts } from './turn-parts.ts'
import { permitUploads } from './uploads.ts'

/**
 * Everything that is decided and recorded before a Turn's first request: what a killed command left, which old bytes are shown no longer, whether new ones
 * may be, and what the person wants to be seen again.
 */
export async function openTurn(parts: TurnParts): Promise<Result<void>> {
  for (const step of [settleKilled, permitUploads, retireOld, showAgain, tellLateContext]) {
    const done = await step(parts)
    if (!done.ok) return done
  }
  return ok(undefined)
}

/** What stays for longer than its Turn goes when that is cheaper, and when the model takes no more. */
async function retireOld({ surface, events, turn, commit }: TurnParts): Promise<Result<void>> {
  const { replay, limits } = surface.params
  if (replay === 'attach-turn') return ok(undefined)
  const costly = replay === 'cost-aware' ? costlyResources(events(), turn) : []
  const drafts = costly.map(({ resource_id, estimate }): EventDraft => {
    return { type: 'resource_retired', data: { resource_id, why: 'cost', estimate } }
  })
  const retired = drafts.length === 0 ? ok(undefined) : await commit(drafts)
  if (!retired.ok) return retired
  const over = overLimitResources(events(), turn, limits).map((one): EventDraft => {
    return { type: 'resource_retired', data: { ...one, why: 'model_limit' } }
  })
  return over.length === 0 ? ok(undefined) : commit(over)
}

/** Loaded where a command was killed, which is rare. */
async function settleKilled(parts: TurnParts): Promise<Result<void>> {
  if (openWatches(parts.events()).length === 0) return ok(undefined)
  return (await import('./inspection.ts')).settleKilled(parts)
}

/** In the order of handles, behind the person's message. */
async function showAgain(parts: TurnParts): Promise<Result<void>> {
  const { views } = parts.opening
  if (views.length === 0) return ok(undefined)
  const known = new SessionResources(parts.events())
  for (const resource of known.all) {
    if (!views.includes(resource.descriptor.handle)) continue
    const drafts = await shownAgain(parts, resource)
    const recorded = drafts.ok ? await parts.commit(drafts.value) : drafts
    if (!recorded.ok) return recorded
  }
  return ok(undefined)
}

async function shownAgain(
  parts: TurnParts,
  resource: SessionResource,
): Promise<Result<readonly EventDraft[]>> {
  const why = notViewable(resource)
  if (why === undefined) {
    const context = {
      resources: toolResources(parts),
      keep: (bytes: Parameters<BlobStore['put']>[0], type: string) => parts.store.put(bytes, type),
    }
    const viewed = await viewOf(resource, {}, context)
    return viewed.ok
      ? ok([{ type: 'resource_view', data: { ...viewed.value, by: 'person' } }])
      : viewed
  }
  const { resource_id, handle } = resource.descriptor
  const view = { resource_id, handle, by: 'person', outcome: 'denied' } as const
  const told = notShown(why.message)
  return ok(resource.gone === undefined ? [told] : [{ type: 'resource_view', data: view }, told])
}

async function tellLateContext({ opening: { late }, commit }: TurnParts): Promise<Result<void>> {
  return late === undefined ? ok(undefined) : commit([{ type: 'late_context', data: late }])
}

function notShown(text: string): EventDraft {
  return { type: 'notice', data: { code: 'resource_not_shown', text } }
}
