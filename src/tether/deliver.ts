import { usualExtension } from '../encoding/magic-bytes.ts'
import { failed, type Failed, type Result } from '../model/errors.ts'
import { BLOB_EXTENSIONS } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { FrameToGuest, ImageReference } from '../model/tether/frame.ts'
import { noImages, unfitFrame } from './frames/frame-check.ts'
import type { AcceptedFrame, StoredImage, Tether } from './tether.ts'

/** A message with its images as bytes. */
export interface NewMessage extends Omit<
  Extract<FrameToGuest, { type: 'user.message' }>,
  'v' | 'type' | 'payload'
> {
  readonly payload: Omit<Extract<FrameToGuest, { type: 'user.message' }>['payload'], 'images'>
  readonly images: readonly StoredImage[]
}

/**
 * Sends a message with images, all or nothing: everything that can be wrong with it or its Instance is checked before the
 * first image is written.
 */
export async function deliver(
  tether: Tether,
  instance: string,
  { images, payload, ...envelope }: NewMessage,
): Promise<Result<AcceptedFrame>> {
  const refused = refusedImages(images)
  if (refused !== undefined) return refused
  const frame = (references: readonly ImageReference[]) => ({
    v: 1 as const,
    type: 'user.message' as const,
    ...envelope,
    payload: { ...payload, ...(references.length === 0 ? {} : { images: references }) },
  })
  const unfit = unfitFrame(frame(images.map(futureReference)))
  if (unfit !== undefined) return unfit
  const references: ImageReference[] = []
  if (images.length > 0) {
    const info = await tether.info(instance)
    if (!info.ok) return info
    const { workspace, enabled } = info.value
    if (!enabled) return failed('instance_disabled', 'This Instance is disabled.')
    if (workspace === undefined) return noImages()
    for (const image of images) {
      const stored = await tether.putImage(instance, image)
      if (!stored.ok) return stored
      references.push(stored.value)
    }
  }
  return tether.send(instance, frame(references))
}

/** As long as the reference that the image gets when it is written. */
function futureReference({ media_type, bytes }: StoredImage): ImageReference {
  const blob = `${'0'.repeat(64)}.${BLOB_EXTENSIONS[media_type]}`
  return { media_type, blob, size: bytes.length }
}

function refusedImages(images: readonly StoredImage[]): Failed | undefined {
  const limit = LIMITS.frame_images
  if (images.length > limit)
    return failed('too_large', `A message has at most ${limit} images.`, {
      limit,
      actual: images.length,
    })
  for (const [at, { media_type, bytes }] of images.entries()) {
    const position = at + 1
    if (bytes.length > LIMITS.attachment_bytes)
      return failed('too_large', `Image ${position} exceeds 10 MiB.`, { position })
    if (usualExtension(bytes) !== BLOB_EXTENSIONS[media_type])
      return failed('type_mismatch', `Image ${position} is not ${media_type}.`, { position })
  }
  const sum = images.reduce((total, { bytes }) => total + bytes.length, 0)
  if (sum <= LIMITS.turn_attachment_bytes) return undefined
  return failed('too_large', 'Together, the images exceed 18 MiB.', { actual: sum })
}
