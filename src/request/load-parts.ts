import type { BlobStore } from '../blobs/store.ts'
import { decodedPieces } from '../encoding/charset.ts'
import { filledBody } from '../prompt/words/skills.ts'
import { payloadMissing } from '../prompt/words/resources.ts'
import type { Loss, LossRecord } from '../model/events/loss.ts'
import type { BlobPart, ConversationItem, Part } from '../model/conversation.ts'
import { causeOf, type HawserError } from '../model/errors.ts'
import type { ResourceId } from '../model/ids.ts'

/** A Resource whose bytes cannot be shown. */
export interface LostResource extends LossRecord {
  readonly resource: ResourceId
  readonly handle: string
}

export interface LoadedItems {
  readonly items: readonly ConversationItem[]
  readonly losses: readonly LostResource[]
  /** The store failed, which does not mean that blobs are missing. */
  readonly failure?: HawserError
}

/** Whether the bytes of a blob contain a key; text is in UTF-8 here. */
export type HoldsKey = (
  part: Pick<BlobPart, 'blob' | 'media_type'>,
  bytes: Buffer,
) => Promise<boolean>

/**
 * Loads the blobs of items one at a time, because they are large. A blob that is missing, damaged, or contains a key is
 * replaced by a sentence.
 */
export async function loadParts(
  items: readonly ConversationItem[],
  store: BlobStore,
  holdsKey: HoldsKey = async () => false,
): Promise<LoadedItems> {
  const loaded: ConversationItem[] = []
  const losses: LostResource[] = []
  let failure: HawserError | undefined
  for (const item of items) {
    if (!('parts' in item) || item.parts.every(({ type }) => type === 'text')) {
      loaded.push(item)
      continue
    }
    const parts: Part[] = []
    for (const part of item.parts) {
      if (part.type === 'text') parts.push(part)
      else {
        const bytes = await bytesOf(part, store, holdsKey)
        if (Buffer.isBuffer(bytes)) parts.push({ ...part, bytes })
        else {
          parts.push(missing(part))
          if (typeof bytes !== 'string') failure ??= bytes
          else losses.push(...lossOf(part, bytes))
        }
      }
    }
    loaded.push({ ...item, parts })
  }
  return { items: loaded, losses, ...(failure === undefined ? {} : { failure }) }
}

/** The bytes, text in UTF-8; or why they cannot be shown. */
async function bytesOf(
  { blob, media_type, charset, resource, args }: BlobPart,
  store: BlobStore,
  holdsKey: HoldsKey,
): Promise<Buffer | Loss | HawserError> {
  const bytes = await store.get(blob)
  if (bytes.ok) {
    if (args !== undefined) return Buffer.from(filledBody(bytes.value.toString('utf8'), args))
    const shown = charset === undefined ? bytes.value : inUtf8(bytes.value, charset)
    if (resource === undefined || !Buffer.isBuffer(shown)) return shown
    return (await holdsKey({ blob, media_type }, shown)) ? 'holds_key' : shown
  }
  const cause = causeOf(bytes.error)
  if (cause?.type !== 'payload') return bytes.error
  return cause.state === 'damaged' ? 'payload_damaged' : 'payload_missing'
}

/** Text in another encoding is stored unchanged and shown converted. A Log from elsewhere may name any encoding. */
function inUtf8(bytes: Buffer, charset: string): Buffer | Loss {
  try {
    return Buffer.from([...decodedPieces(bytes, charset)].join(''))
  } catch {
    return 'payload_damaged'
  }
}

function missing({ handle, resource, lifetime }: BlobPart): Part {
  const owner = resource === undefined ? {} : { resource }
  return { type: 'text', text: payloadMissing(handle), ...owner, lifetime }
}

function lossOf({ resource, handle = '' }: BlobPart, why: Loss): LostResource[] {
  return resource === undefined ? [] : [{ resource, handle, why }]
}
