import {
  expectedBytes,
  sumOf,
  visibleBytes,
  type VisibleBytes,
} from '../../history/visible-bytes.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import { blobMediaType } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { RoomAnswer, ToolResources, ViewBytes } from '../../tools/tool.ts'
import type { TurnParts } from '../parts/turn-parts.ts'

interface RoomParts {
  readonly log: Pick<TurnParts['log'], 'events' | 'turn'>
  readonly model: { readonly surface: { readonly params: RoomParams } }
}

type RoomParams = Pick<TurnParts['model']['surface']['params'], 'replay' | 'limits'>

/** The room of one call. `earlier` resolves when the calls before it in the answer have ended and are recorded. */
export interface CallRoom extends Pick<ToolResources, 'visible' | 'take'> {
  readonly earlier: Promise<unknown>
}

/**
 * The bytes that the next request shows, and the room left for views. Concurrent calls share one instance, so that the views
 * of one call count for the others before they are recorded.
 */
export class RequestRoom {
  readonly #parts: RoomParts
  #visible: VisibleBytes[] | undefined
  #earlier: Promise<unknown> = Promise.resolve()

  constructor(parts: RoomParts) {
    this.#parts = parts
  }

  /** Folded once, because only `take` changes it while these calls run. */
  get #visibleBytes(): VisibleBytes[] {
    const { log, model } = this.#parts
    const { replay, limits } = model.surface.params
    this.#visible ??= visibleBytes(log.events(), { turn: log.turn, replay, limits })
    return this.#visible
  }

  /**
   * Runs the next call of an answer. Room is granted in the order of calls, not in the order in which files happen to be
   * loaded: if views do not fit together, the last one is refused.
   */
  forCall<T>(run: (room: CallRoom) => Promise<T>): Promise<T> {
    const earlier = this.#earlier
    const running = run({
      earlier,
      visible: this.visible,
      take: async (descriptor, shown) => {
        await earlier
        return this.take(descriptor, shown)
      },
    })
    this.#earlier = Promise.allSettled([earlier, running])
    return running
  }

  visible: ToolResources['visible'] = (blob) => this.#visibleBytes.find((one) => one.blob === blob)

  /** An accepted view counts immediately. */
  take(
    { resource_id: resource, handle }: Descriptor,
    { blob, size, whole }: ViewBytes,
  ): RoomAnswer {
    const { limits } = this.#parts.model.surface.params
    const known = this.visible(blob)
    if (known !== undefined) return { outcome: 'visible', ...known }
    const bytes = whole ? expectedBytes({ blob, size }, limits) : size
    const refused = this.#refusalOf(blob, bytes)
    if (refused !== undefined) return refused
    this.#visibleBytes.push({ resource, handle, blob, bytes, place: 'viewed' })
    return { outcome: 'projected' }
  }

  #refusalOf(blob: VisibleBytes['blob'], bytes: number): RoomAnswer | undefined {
    const most = this.#parts.model.surface.params.limits['image_count'] ?? Infinity
    const images = this.#visibleBytes.filter((one) => isImage(one.blob)).length
    if (isImage(blob) && images >= most) return { outcome: 'over_images', limit: most }
    const visible = sumOf(this.#visibleBytes)
    const limit = LIMITS.request_resource_bytes
    return visible + bytes > limit ? { outcome: 'over_budget', visible, bytes, limit } : undefined
  }
}

function isImage(blob: VisibleBytes['blob']): boolean {
  return blobMediaType(blob).startsWith('image/')
}
