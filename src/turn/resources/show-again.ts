import type { BlobStore } from '../../blobs/store.ts'
import type { SessionResource } from '../../history/session-resources.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import { goneViews, notViewable, viewOf } from '../../tools/resource-view.ts'
import { RequestRoom } from './request-room.ts'
import { toolResources } from './tool-resources.ts'
import type { TurnParts } from '../parts/turn-parts.ts'

/** Records a view of each Resource that the person's message names, in the order of handles. */
export async function showAgain(parts: TurnParts, views: readonly string[]): Promise<Result<void>> {
  const { log } = parts
  for (const handle of [...new Set(views)].toSorted((a, b) => numberOf(a) - numberOf(b))) {
    const resource = await log.resourceNamed(handle)
    if (!resource.ok) return resource
    if (resource.value === undefined) continue
    const drafts = await viewDrafts(parts, resource.value)
    const recorded = drafts.ok ? await log.commit(drafts.value) : drafts
    if (!recorded.ok) return recorded
  }
  return ok(undefined)
}

/** All handles share one counter. */
function numberOf(handle: string): number {
  return Number(/\d+$/.exec(handle)?.[0] ?? 0)
}

async function viewDrafts(
  parts: TurnParts,
  resource: SessionResource,
): Promise<Result<readonly EventDraft[]>> {
  const why = notViewable(resource)
  if (why === undefined) {
    const { store } = parts.log
    const keep = (bytes: Parameters<BlobStore['put']>[0], type: string) => store.put(bytes, type)
    const viewed = await new RequestRoom(parts).forCall((room) =>
      viewOf(resource, {}, { resources: toolResources(parts, room), keep }),
    )
    if (!viewed.ok) return viewed
    const { view, message } = viewed.value
    const recorded = { type: 'resource_view', data: { ...view, by: 'person' } } as const
    const isShown = view.outcome === 'projected' || view.outcome === 'visible'
    return ok(isShown ? [recorded] : [recorded, notShown(message)])
  }
  const views = goneViews(resource).map((view) => {
    return { type: 'resource_view', data: { ...view, by: 'person' } } as const
  })
  return ok([...views, notShown(why.message)])
}

function notShown(text: string): EventDraft {
  return notice('resource_not_shown', text)
}
