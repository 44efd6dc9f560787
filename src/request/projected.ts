import type { ConversationItem } from '../model/conversation.ts'
import type { EventData } from '../model/events/event.ts'
import { blobSha256 } from '../model/ids.ts'

type Projections = NonNullable<EventData<'provider_request'>['projected']>

/** The Resources whose bytes are in these items, after loading and fitting. */
export function projectedIn(items: readonly ConversationItem[]): Projections {
  return items.flatMap((item) =>
    'parts' in item
      ? item.parts.flatMap((part) => {
          if (part.type === 'text' || part.resource === undefined) return []
          if (part.bytes === undefined || part.lifetime === 'stable') return []
          const { resource, blob, bytes, lifetime, variant } = part
          const made = variant?.params === undefined ? {} : { made: variant.params }
          const form = variant === undefined ? {} : { variant: blob, ...made }
          const content_sha256 = variant?.of ?? blobSha256(blob)
          return [{ resource_id: resource, content_sha256, ...form, bytes: bytes.length, lifetime }]
        })
      : [],
  )
}
