import { usualExtension } from '../../encoding/magic-bytes.ts'
import type { RecordsPlace } from '../../host/files/records.ts'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import { BLOB_EXTENSIONS } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { ImageReference } from '../../model/tether/frame.ts'
import { invalidImageKey } from '../instance-name.ts'
import type { GuestRecords } from '../records/guest-records.ts'
import type { StoredImage } from '../tether.ts'

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

/** Why an image cannot be stored. */
export function unfitImage({ media_type, bytes }: StoredImage): Failed | undefined {
  const { length: size } = bytes
  const limit = LIMITS.attachment_bytes
  if (size > limit)
    return failed('too_large', `The image exceeds ${limit} bytes.`, { limit, actual: size })
  if (IMAGE_TYPES.includes(media_type) && usualExtension(bytes) === BLOB_EXTENSIONS[media_type])
    return undefined
  return failed('type_mismatch', `The bytes are not ${media_type}.`, { media_type })
}

/** Writes a fit image into the blobs of a guest: no link is followed, and nothing there is trusted. */
export async function storeImage(
  records: GuestRecords,
  place: RecordsPlace,
  { media_type, bytes }: StoredImage,
): Promise<Result<ImageReference>> {
  const key = await records.storeBlob(place, bytes, media_type)
  return key.ok ? ok({ media_type, blob: key.value, size: bytes.length }) : key
}

/** An image among the blobs of a guest, verified completely. */
export async function readImage(
  records: GuestRecords,
  place: RecordsPlace,
  blob: string,
): Promise<Result<StoredImage>> {
  const media_type = IMAGE_TYPES.find((type) => blob.endsWith(`.${BLOB_EXTENSIONS[type]}`))
  const named = ImageReference.safeParse({ media_type, blob, size: 1 })
  if (!named.success) return invalidImageKey()
  const sized = await records.blobSize(place, named.data.blob)
  if (!sized.ok) return sized.error.kind === 'not_regular_file' ? imageMissing(blob) : sized
  const { value: size = 0 } = sized
  if (size === 0 || size > LIMITS.attachment_bytes) return imageMissing(blob)
  const read = await records.readBlob(place, { ...named.data, size })
  return read.ok ? ok({ media_type: named.data.media_type, bytes: read.value }) : read
}

/** Why the images of a message cannot be delivered: each must be a blob of the Instance that matches its reference. */
export async function refusedImages(
  records: GuestRecords,
  place: RecordsPlace,
  images: readonly ImageReference[],
): Promise<Failed | undefined> {
  const sum = images.reduce((total, { size }) => total + size, 0)
  const limit = LIMITS.turn_attachment_bytes
  if (sum > limit)
    return failed('too_large', 'Together, the images exceed 18 MiB.', { limit, actual: sum })
  for (const image of images) {
    const read = await records.readBlob(place, image)
    if (!read.ok) return read
  }
  return undefined
}

function imageMissing(blob: string): Failed {
  const text = `The image ${blob} is missing or damaged.`
  const refused = failed('resource_missing', text, { blob, state: 'missing' })
  return withCause(refused, { type: 'payload', state: 'missing' })
}
