import { base64Length } from '../encoding/base64.ts'
import { historyOf } from '../history/history.ts'
import { transientsAt } from '../history/transients.ts'
import type { Descriptor } from '../model/descriptor.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { ResourceId, TurnId } from '../model/ids.ts'

/** A Resource to retire, and the figures behind the decision. */
export interface OverLimit {
  readonly resource_id: ResourceId
  readonly estimate: Readonly<Record<string, number>>
}

/**
 * The oldest Resources in the window, as many as must be retired so that the model accepts the rest: its number of
 * images, and the total base64 size. If any must go, a few more do, because each retirement makes everything after it
 * be read again, and it would otherwise happen every Turn. Excludes what the current Turn attaches. Pure.
 */
export function overLimitResources(
  events: readonly WholeEvent[],
  now: TurnId | undefined,
  limits: Readonly<Record<string, number>>,
): readonly OverLimit[] {
  const { image_count = Infinity, request_bytes = Infinity, image_base64_bytes } = limits
  const live = liveIn(events, now)
  const base64Bytes = (descriptor: Descriptor) => bytesOf(descriptor, image_base64_bytes)
  let images = live.filter(({ descriptor }) => descriptor.kind === 'image').length
  let bytes = live.reduce((sum, { descriptor }) => sum + base64Bytes(descriptor), 0)
  const over: OverLimit[] = []
  const most = {
    images: images > image_count ? Math.floor(image_count * ROOM) : image_count,
    bytes: bytes > request_bytes ? Math.floor(request_bytes * ROOM) : request_bytes,
  }
  for (const { descriptor, turn } of live) {
    if (images <= most.images && bytes <= most.bytes) break
    if (turn === now) continue
    // If only the images are too many, nothing else has to go.
    if (bytes <= most.bytes && descriptor.kind !== 'image') continue
    over.push({ resource_id: descriptor.resource_id, estimate: { images, base64_bytes: bytes } })
    if (descriptor.kind === 'image') images -= 1
    bytes -= base64Bytes(descriptor)
  }
  return over
}

/** The share of a limit that stays in use. */
const ROOM = 0.75

interface Live {
  readonly descriptor: Descriptor
  readonly turn: TurnId | undefined
}

/** Attachments of messages that are still shown, the oldest first. */
function liveIn(events: readonly WholeEvent[], now: TurnId | undefined): Live[] {
  const { lifetimeOf } = transientsAt(events, now, 'window')
  return historyOf(events).events.flatMap((event) => {
    if (event.type !== 'user_message') return []
    const { turn_id: turn } = event
    return (event.data.resources ?? []).flatMap((descriptor) => {
      const { kind, resource_id } = descriptor
      if (kind === 'link' || kind === 'file') return []
      return lifetimeOf(turn, resource_id) === undefined ? [] : [{ descriptor, turn }]
    })
  })
}

/** For an image, at most the limit of the model: a larger one is shown reduced. */
function bytesOf(descriptor: Descriptor, most = Infinity): number {
  if (descriptor.kind === 'link') return 0
  const bytes = base64Length(descriptor.size_bytes)
  return descriptor.kind === 'image' ? Math.min(bytes, most) : bytes
}
