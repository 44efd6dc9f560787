import type { BlobStore } from '../blobs/store.ts'
import { decodedPieces } from '../encoding/charset.ts'
import type { Loss } from '../history/transients.ts'
import type { BlobPart, ConversationItem, Part } from '../model/conversation.ts'
import type { ResourceId } from '../model/ids.ts'

/** A Resource whose bytes the store could not give. */
export interface Lost {
  readonly resource: ResourceId
  readonly handle: string
  readonly why: Loss
}

export interface Loaded {
  readonly items: readonly ConversationItem[]
  readonly lost: readonly Lost[]
}

/**
 * Items with the bytes of their blobs, one blob after the other: they are large. What is missing or damaged becomes a sentence,
 * in the place of the bytes.
 */
export async function loadParts(
  items: readonly ConversationItem[],
  store: BlobStore,
): Promise<Loaded> {
  const loaded: ConversationItem[] = []
  const lost: Lost[] = []
  for (const item of items) {
    if (!('parts' in item) || item.parts.every(({ type }) => type === 'text')) {
      loaded.push(item)
      continue
    }
    const parts: Part[] = []
    for (const part of item.parts) {
      const bytes = part.type === 'text' ? undefined : await store.get(part.blob)
      if (part.type === 'text' || bytes === undefined) parts.push(part)
      else if (bytes.ok) parts.push({ ...part, bytes: inUtf8(part, bytes.value) })
      else {
        parts.push(missing(part))
        lost.push(...lossOf(part, bytes.error.details['state']))
      }
    }
    loaded.push({ ...item, parts })
  }
  return { items: loaded, lost }
}

/** Text in another encoding is stored as it was given, and shown converted. */
function inUtf8({ charset }: BlobPart, bytes: Buffer): Buffer {
  if (charset === undefined) return bytes
  return Buffer.from([...decodedPieces(bytes, charset)].join(''))
}

function missing({ handle, resource, lifetime }: BlobPart): Part {
  const owner = resource === undefined ? {} : { resource }
  const text = `[The payload of ${handle ?? 'a stored text'} is missing.]`
  return { type: 'text', text, ...owner, lifetime }
}

function lossOf({ resource, handle = '' }: BlobPart, state: unknown): Lost[] {
  if (resource === undefined) return []
  const why = state === 'damaged' ? 'payload_damaged' : 'payload_missing'
  return [{ resource, handle, why }]
}
