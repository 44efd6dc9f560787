import { sha256 } from '../../../encoding/hash.ts'
import { usualExtension } from '../../../encoding/magic-bytes.ts'
import { inBlobsOf } from '../../../host/distrusted-workspace.ts'
import { asResult, closing, ifThere, readSpan, type File } from '../../../host/files/files.ts'
import type { RecordsPlace } from '../../../host/files/records.ts'
import { failed, ok, withCause, type Failed, type Result } from '../../../model/errors.ts'
import { BLOB_EXTENSIONS } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { ImageReference } from '../../../model/tether/frame.ts'

/**
 * The bytes of an image that a guest names, read from its records now. The guest may have put anything there, so the file is
 * opened without following links, and its size, hash and magic bytes must agree with the reference before a byte is used.
 * `resource_missing` with the cause `payload` otherwise, and `invalid_args` for an invalid reference.
 */
export async function readGuestBlob(place: RecordsPlace, named: unknown): Promise<Result<Buffer>> {
  const reference = ImageReference.safeParse(named)
  if (!reference.success) return failed('invalid_args', 'Invalid image reference.')
  const { blob } = reference.data
  const read = await asResult('read an image of the agent', async () => {
    const found = await inBlobsOf(place, async (folder) => {
      const file = await ifThere(folder.open(blob, 'read'))
      return file && closing(file, () => verifyBlob(file, reference.data))
    })
    return found ?? blobMissing(blob, 'missing')
  })
  // A link, a pipe or a folder in place of a blob.
  return read.ok || read.error.kind !== 'not_regular_file' ? read : blobMissing(blob, 'damaged')
}

/** One descriptor for all checks: the path may lead elsewhere at any moment. */
async function verifyBlob(
  file: File,
  { blob, media_type, size }: ImageReference,
): Promise<Result<Buffer>> {
  const facts = await file.stat()
  const isLikely = facts.size === size && size <= LIMITS.attachment_bytes && facts.links === 1
  if (!isLikely) return blobMissing(blob, 'damaged')
  const bytes = await readSpan(file, 0, size)
  const isSame = bytes.length === size && sha256(bytes) === blob.slice(0, blob.indexOf('.'))
  if (!isSame) return blobMissing(blob, 'damaged')
  return usualExtension(bytes) === BLOB_EXTENSIONS[media_type]
    ? ok(bytes)
    : blobMissing(blob, 'damaged')
}

function blobMissing(blob: string, state: 'missing' | 'damaged'): Failed {
  const what = state === 'missing' ? 'is missing' : 'does not match its reference'
  const refused = failed('resource_missing', `The image ${blob} ${what}.`, { blob, state })
  return withCause(refused, { type: 'payload', state })
}
