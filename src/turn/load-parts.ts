import type { BlobStore } from '../blobs/store.ts'
import type { ConversationItem, Part } from '../model/conversation.ts'

/** Items with the bytes of their blobs. What is missing or damaged becomes a sentence, in the place of the bytes. */
export async function loadParts(
  items: readonly ConversationItem[],
  store: BlobStore,
): Promise<ConversationItem[]> {
  return Promise.all(
    items.map(async (item) => {
      if (!('parts' in item) || item.parts.every(({ type }) => type === 'text')) return item
      return { ...item, parts: await Promise.all(item.parts.map((part) => loaded(part, store))) }
    }),
  )
}

async function loaded(part: Part, store: BlobStore): Promise<Part> {
  if (part.type === 'text') return part
  const blob = await store.get(part.blob)
  if (blob.ok) return { ...part, bytes: blob.value }
  const what = part.handle ?? 'a stored text'
  return { type: 'text', text: `[The payload of ${what} is missing.]`, lifetime: part.lifetime }
}
