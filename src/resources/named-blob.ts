import type { BlobStore } from '../blobs/store.ts'
import { usualExtension } from '../encoding/magic-bytes.ts'
import type { AttachmentInput } from '../model/attachment.ts'
import { causeOf, type HawserError } from '../model/errors.ts'
import { BLOB_EXTENSIONS, BlobKey, blobMediaType } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { refusal, attachmentTooLarge, unreadableFile, type Refusal } from './refusal.ts'

type BlobInput = Extract<AttachmentInput, { readonly from: 'blob' }>

/** The bytes of a blob that a client names. Its key, media type and size, the hash and the magic bytes must agree. */
export async function namedBlob(
  { blob, media_type, size }: Pick<BlobInput, 'blob' | 'media_type' | 'size'>,
  blobs: Pick<BlobStore, 'stat' | 'get'> | undefined,
): Promise<Buffer | Refusal> {
  const key = BlobKey.safeParse(blob)
  if (!key.success || blobs === undefined)
    return refusal('invalid_name', 'its blob key is not valid')
  if (blobMediaType(key.data) !== media_type)
    return refusal('type_mismatch', 'its media type is not that of its blob key')
  if (size > LIMITS.attachment_bytes) return attachmentTooLarge(size)
  const facts = await blobs.stat(key.data)
  if (!facts.ok) return bytesMissing(facts.error)
  // Before it is read: it may be larger than any attachment.
  if (facts.value.size !== size) return refusal('corrupt', 'its payload does not have its size')
  const bytes = await blobs.get(key.data)
  if (!bytes.ok) return bytesMissing(bytes.error)
  if (bytes.value.length !== size) return refusal('corrupt', 'its payload does not have its size')
  if (usualExtension(bytes.value) !== BLOB_EXTENSIONS[blobMediaType(key.data)])
    return refusal('type_mismatch', `its payload is not ${media_type}`)
  return bytes.value
}

function bytesMissing(error: HawserError): Refusal {
  const cause = causeOf(error)
  if (cause?.type !== 'payload') return unreadableFile(error)
  return cause.state === 'missing'
    ? refusal('not_found', 'its payload is missing')
    : refusal('corrupt', 'its payload is damaged')
}
