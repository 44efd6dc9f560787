import type { Handle } from '../model/descriptor.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { blobMediaType, blobSha256, type BlobKey, type ResourceId } from '../model/ids.ts'
import { Conversation, type RequestScope } from './conversation.ts'
import { historyOf } from './history.ts'
import { SessionResources } from './session-resources.ts'
import { transientsAt } from './transients.ts'

/** Bytes of a Resource that the next request of a Turn shows. */
export interface VisibleBytes {
  readonly resource: ResourceId
  readonly handle: Handle
  /** The original, or the part of it that a view shows. The request may contain a smaller variant. */
  readonly blob: BlobKey
  /** The number of bytes in the request, as far as Events show. */
  readonly bytes: number
  readonly place: VisiblePlace
}

/** What shows the bytes: a message of this Turn, of an unanswered Turn, of an earlier Turn, or a view of this Turn. */
export type VisiblePlace = 'attached' | 'carried' | 'windowed' | 'viewed'

/** The parameters that decide what a request shows. */
export interface VisibleParams extends RequestScope {
  readonly limits: Readonly<Record<string, number>>
}

/** All bytes that the next request of the Turn shows, in request order. Pure. */
export function visibleBytes(all: readonly WholeEvent[], params: VisibleParams): VisibleBytes[] {
  const { turn, limits } = params
  const resources = new SessionResources(all)
  if (resources.all.length === 0) return []
  const { events } = historyOf(all)
  const bySeq = new Map(events.map((event) => [event.seq, event]))
  const unanswered = transientsAt(all, turn, 'attach-turn')
  const bytesOf = knownBytes(events, limits)
  const visiblePlace = (event: WholeEvent | undefined): VisiblePlace => {
    if (event?.type !== 'user_message') return 'viewed'
    const lifetime = unanswered.lifetimeOf(event.turn_id)
    if (lifetime === 'turn') return 'attached'
    return lifetime === 'carried' ? 'carried' : 'windowed'
  }
  return new Conversation(all, params).items().flatMap((item) => {
    if (!('parts' in item)) return []
    const place = visiblePlace(bySeq.get(item.seq))
    return item.parts.flatMap((part) => {
      if (part.type === 'text' || part.resource === undefined) return []
      const { resource, blob } = part
      const descriptor = resources.byId(resource)?.descriptor
      if (descriptor === undefined || descriptor.kind === 'link') return []
      const { handle, size_bytes: size } = descriptor
      return [{ resource, handle, blob, bytes: bytesOf({ blob, size }), place }]
    })
  })
}

/** The total number of bytes. */
export function sumOf(visible: readonly Pick<VisibleBytes, 'bytes'>[]): number {
  return visible.reduce((sum, { bytes }) => sum + bytes, 0)
}

interface Original {
  readonly blob: BlobKey
  readonly size: number
}

/** The size of an original that no request has shown yet. An image is never larger than the model accepts. */
export function expectedBytes(
  { blob, size }: Original,
  { image_base64_bytes = Infinity }: Readonly<Record<string, number>>,
): number {
  const isImage = blobMediaType(blob).startsWith('image/')
  return isImage ? Math.min(size, Math.floor(image_base64_bytes / 4) * 3) : size
}

/** The size that the last request recorded, original or variant; otherwise the size from the Event that added or viewed it. */
function knownBytes(events: readonly WholeEvent[], limits: VisibleParams['limits']) {
  const recorded = new Map<string, number>()
  const viewed = new Map<string, number>()
  for (const { type, data } of events) {
    // Another model may get other variants.
    if (type === 'prompt_surface') recorded.clear()
    if (type === 'resource_view' && data.variant !== undefined && data.shown_bytes !== undefined)
      viewed.set(blobSha256(data.variant), data.shown_bytes)
    if (type !== 'provider_request') continue
    for (const { content_sha256, variant, made, bytes } of data.projected ?? []) {
      if (variant !== undefined) recorded.set(blobSha256(variant), bytes)
      recorded.set(variant === undefined ? content_sha256 : (made?.of ?? ''), bytes)
    }
  }
  return (original: Original): number => {
    const sha256 = blobSha256(original.blob)
    return recorded.get(sha256) ?? viewed.get(sha256) ?? expectedBytes(original, limits)
  }
}
