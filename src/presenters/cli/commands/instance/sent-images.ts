import { basename } from 'node:path'
import { usualExtension } from '../../../../encoding/magic-bytes.ts'
import { outsideFiles, withOutsideFile } from '../../../../host/files/outside-file.ts'
import type { AttachmentInput } from '../../../../model/attachment.ts'
import { failed, ok, type Failed, type Result } from '../../../../model/errors.ts'
import { BLOB_EXTENSIONS } from '../../../../model/ids.ts'
import { LIMITS } from '../../../../model/limits.ts'
import type { StoredImage } from '../../../../tether/tether.ts'
import { attachmentsNamed } from '../../input/attachment-arguments.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CliWorld } from '../../world/world.ts'

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

/** Reads the images that a person attaches. Their types are those of their bytes. All of them are good, or none is used. */
export async function imagesNamed(
  world: CliWorld,
  names: readonly string[],
): Promise<Result<readonly StoredImage[]>> {
  const sources = { cwd: world.cwd, clipboard: world.clipboard, stdin: world.streams.stdin }
  const inputs = await attachmentsNamed(sources, names)
  if (!inputs.ok) return inputs
  const images: StoredImage[] = []
  for (const input of inputs.value) {
    const name = input.from === 'bytes' ? input.name : nameOf(input)
    const bytes = input.from === 'bytes' ? ok(input.bytes) : await fileBytes(input, name)
    if (!bytes.ok) return bytes
    const extension = usualExtension(bytes.value)
    const media_type = IMAGE_TYPES.find((type) => BLOB_EXTENSIONS[type] === extension)
    if (media_type === undefined) return notAnImage(name)
    images.push({ media_type, bytes: bytes.value })
  }
  return ok(images)
}

function nameOf(input: AttachmentInput): string {
  return input.from === 'path' && typeof input.path === 'string' ? basename(input.path) : 'this'
}

async function fileBytes(input: AttachmentInput, name: string): Promise<Result<Buffer>> {
  if (input.from !== 'path' || typeof input.path !== 'string') return notAnImage(name)
  const limit = LIMITS.attachment_bytes
  const signal = AbortSignal.timeout(LIMITS.attachment_ms)
  const read = await withOutsideFile(outsideFiles, input.path, (file) =>
    file.size > limit ? Promise.resolve(tooLarge(name)) : file.read(Buffer.alloc(limit), signal),
  )
  if (read.ok) return read
  const { kind, message, details, next_actions } = read.error
  return failed(kind, `Cannot attach ${visibleLine(name)}. ${message}`, details, next_actions)
}

function tooLarge(name: string): Failed {
  const limit = LIMITS.attachment_bytes
  return failed('too_large', 'It exceeds 10 MiB.', { name, limit })
}

function notAnImage(name: string): Failed {
  const message = `Cannot attach ${visibleLine(name)}: an Instance gets PNG, JPEG, GIF and WebP images.`
  return failed('unsupported_type', message, { name }, [
    { action: 'Put other files into its workspace and name them in the message.' },
  ])
}
