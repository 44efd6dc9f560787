import { SessionResources } from '../history/session-resources.ts'
import type { Descriptor } from '../model/descriptor.ts'
import type { ToolResources } from '../tools/tool.ts'
import type { TurnParts } from './turn-parts.ts'
import { permitUpload } from './uploads.ts'

/** The Session Resources for a call or, without one, for a view of the person. */
export function toolResources(parts: TurnParts, call_id?: string): ToolResources {
  const { log, model, tools } = parts
  return {
    known: () => new SessionResources(log.events()),
    notTaken: (descriptor) => notTaken(parts, descriptor),
    mayShow: (descriptor) => permitUpload(parts, descriptor, call_id),
    payload: (blob) => log.store.get(blob),
    holdsKey: model.holdsKey,
    variants: model.variants,
    ingest: tools.ingest,
    name: (facts) => log.names.name(facts, 'tool'),
  }
}

/** Resources that can be made to fit are accepted; whether they fit is known when the request is composed. */
function notTaken(
  { log: { events, turn }, model }: TurnParts,
  { kind }: Descriptor,
): string | undefined {
  if (kind !== 'image') return undefined
  const { params } = model.surface
  if (params.images === false) return 'this model does not accept images'
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
