import { SessionResources } from '../../history/session-resources.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import type { ToolResources } from '../../tools/tool.ts'
import type { CallRoom } from './request-room.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import { permitUpload } from './uploads.ts'

/** The Session Resources for a call, or, without a call, for a view that a person requests. */
export function toolResources(parts: TurnParts, room: CallRoom, call_id?: string): ToolResources {
  const { log, model, tools } = parts
  return {
    knownResources: () => new SessionResources(log.events()),
    find: log.resourceNamed,
    notTaken: (descriptor) => notTaken(parts, descriptor),
    visible: room.visible,
    take: room.take,
    mayShow: (descriptor) => permitUpload(parts, descriptor, call_id),
    payload: (blob) => log.store.get(blob),
    holdsKey: model.holdsKey,
    variants: model.variants,
    ingest: tools.ingest,
    attachable: tools.attachable,
    name: (facts) => log.names.name(facts, 'tool'),
  }
}

/** Why a view is refused. Accepts anything that a variant may make fit; if that fails, composing the request reports it. */
function notTaken({ model }: TurnParts, { kind }: Pick<Descriptor, 'kind'>): string | undefined {
  const isRefused = kind === 'image' && model.surface.params.images === false
  return isRefused ? 'this model does not accept images' : undefined
}
