import { SessionResources } from '../history/session-resources.ts'
import type { Descriptor } from '../model/descriptor.ts'
import type { ToolResources } from '../tools/tool.ts'
import type { TurnParts } from './turn-parts.ts'
import { permitUpload } from './uploads.ts'

/** The Session Resources as a call sees them, or, without one, as a person's own wish does. */
export function toolResources(parts: TurnParts, call_id?: string): ToolResources {
  return {
    known: () => new SessionResources(parts.events()),
    notTaken: (descriptor) => notTaken(parts, descriptor),
    mayShow: (descriptor) => permitUpload(parts, descriptor, call_id),
    payload: (blob) => parts.store.get(blob),
    holdsKey: parts.holdsKey,
    variants: parts.variants,
    ingest: parts.ingest,
    name: parts.nameResource,
  }
}

/** What can be made to fit is taken; whether it was is told when the request is made. */
function notTaken(
  { surface: { params }, events, turn }: TurnParts,
  { kind }: Descriptor,
): string | undefined {
  if (kind !== 'image') return undefined
  if (params.images === false) return 'this model does not take images'
  const most = params.limits['image_count']
  const last = events().findLast(
    (event) => event.type === 'provider_request' && event.turn_id === turn,
  )
  const shown = last?.type === 'provider_request' ? (last.data.projected ?? []) : []
  const known = new SessionResources(events())
  const images = shown.filter(
    ({ resource_id }) => known.byId(resource_id)?.descriptor.kind === 'image',
  )
  if (most === undefined || images.length < most) return undefined
  return `this model takes at most ${most} images in a request, and so many are shown`
}
