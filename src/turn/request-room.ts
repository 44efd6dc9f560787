import { expectedBytes, sumOf, visibleBytes, type VisibleBytes } from '../history/visible-bytes.ts'
import { blobMediaType } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { RoomAnswer, ToolResources } from '../tools/tool.ts'
import type { TurnParts } from './turn-parts.ts'

interface RoomParts {
  readonly log: Pick<TurnParts['log'], 'events' | 'turn'>
  readonly model: { readonly surface: { readonly params: RoomParams } }
}

type RoomParams = Pick<TurnParts['model']['surface']['params'], 'replay' | 'limits'>

/**
 * The bytes that the next request shows, and the room left for views. Concurrent calls share one instance, so that the views
 * of one call count for the others before they are recorded.
 */
export class RequestRoom {
  readonly #parts: RoomParts
  #visible: VisibleBytes[] | undefined

  constructor(parts: RoomParts) {
    this.#parts = parts
  }

  /** Folded once, because only `take` changes it while these calls run. */
  get #shown(): VisibleBytes[] {
    const { log, model } = this.#parts
    const { replay, limits } = model.surface.params
    this.#visible ??= visibleBytes(log.events(), { turn: log.turn, replay, limits })
    return this.#visible
  }

  visible: ToolResources['visible'] = (blob) => this.#shown.find((one) => one.blob === blob)

  /** An accepted view counts immediately. */
  take: ToolResources['take'] = ({ resource_id: resource, handle }, { blob, size, whole }) => {
    const { limits } = this.#parts.model.surface.params
    const known = this.visible(blob)
    if (known !== undefined) return { outcome: 'visible', ...known }
    const bytes = whole ? expectedBytes({ blob, size }, limits) : size
    const refused = this.#refused(blob, bytes)
    if (refused !== undefined) return refused
    this.#shown.push({ resource, handle, blob, bytes, place: 'viewed' })
    return { outcome: 'projected' }
  }

  #refused(blob: VisibleBytes['blob'], bytes: number): RoomAnswer | undefined {
    const most = this.#parts.model.surface.params.limits['image_count'] ?? Infinity
    const images = this.#shown.filter((one) => isImage(one.blob)).length
    if (isImage(blob) && images >= most) return { outcome: 'over_images', limit: most }
    const visible = sumOf(this.#shown)
    const limit = LIMITS.request_resource_bytes
    return visible + bytes > limit ? { outcome: 'over_budget', visible, bytes, limit } : undefined
  }
}

function isImage(blob: VisibleBytes['blob']): boolean {
  return blobMediaType(blob).startsWith('image/')
}
