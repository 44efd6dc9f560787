import { usualExtension } from '../../encoding/magic-bytes.ts'
import type { Clock } from '../../host/clock.ts'
import type { Fetch } from '../../host/net/http.ts'
import { patience } from '../../host/wait.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { BLOB_EXTENSIONS } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { imageSize } from '../../tether/image-size.ts'
import type { StoredImage } from '../../tether/tether.ts'
import type { BotAccess, BotApi, BotFailure } from './bot-api.ts'
import { File } from './protocol.ts'
import type { IncomingImage } from './translate.ts'

export interface DownloadParts {
  readonly api: BotApi
  readonly access: BotAccess
  readonly fetch: Fetch
  readonly clock: Clock
}

/** For 10 MiB over a slow line. */
const DOWNLOAD_MS = 5 * 60_000

/** A download failed, and may succeed later. */
export interface Unreachable {
  readonly failure: BotFailure
}

/**
 * The bytes of an image, judged by themselves: what Telegram says about its size and type may be absent or wrong. `failure` if
 * Telegram could not be reached; its next answer may differ.
 */
export async function downloadImage(
  parts: DownloadParts,
  image: IncomingImage,
  signal: AbortSignal,
): Promise<Result<StoredImage> | Unreachable> {
  const { api } = parts
  if (image.bytes !== undefined && image.bytes > LIMITS.attachment_bytes) return tooLarge()
  const found = await api.call('getFile', { file_id: image.fileId }, { signal })
  if (!found.ok) return refusedFile(found.failure)
  const { data: { file_path: path = '', file_size: size = 0 } = {} } = File.safeParse(found.value)
  if (size > LIMITS.attachment_bytes) return tooLarge()
  if (!FILE_PATH.test(path)) return noFile()
  const bytes = await bytesAt(parts, path, signal)
  if (!Buffer.isBuffer(bytes)) return bytes
  return judgeImage(bytes, image)
}

/** Segments of names, relative and without dots at their start: nothing that leads elsewhere on that server. */
const FILE_PATH = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/

/** At most one byte more than the limit is read. No redirect is followed, and nothing is decompressed. */
async function bytesAt(
  { access: { token, apiRoot }, fetch, clock }: DownloadParts,
  path: string,
  outer: AbortSignal,
): Promise<Buffer | Failed | Unreachable> {
  const limit = patience(clock, DOWNLOAD_MS, outer)
  const { signal } = limit
  try {
    const answer = await fetch(`${apiRoot}/file/bot${token}/${path}`, { signal })
    const { status, body } = answer
    if (status !== 200 || body === null) {
      await body?.cancel()
      return status >= 500 ? unreachable(status) : noFile()
    }
    const pieces: Uint8Array[] = []
    let length = 0
    const chunks: AsyncIterable<Uint8Array> = body
    for await (const piece of chunks) {
      pieces.push(piece)
      length += piece.length
      if (length > LIMITS.attachment_bytes) return tooLarge()
    }
    return Buffer.concat(pieces)
  } catch {
    // The error is not looked at: it may contain the URL.
    return unreachable(0)
  } finally {
    limit.end()
  }
}

function judgeImage(bytes: Buffer, { declaredType }: IncomingImage): Result<StoredImage> {
  const extension = usualExtension(bytes)
  const media_type = IMAGE_TYPES.find((type) => BLOB_EXTENSIONS[type] === extension)
  if (media_type === undefined)
    return failed('unsupported_type', 'This is not a PNG, JPEG, GIF or WebP image.')
  if (declaredType !== undefined && declaredType !== media_type)
    return failed('type_mismatch', 'The file is not of the type that it was sent as.')
  const { width = 0, height = 0 } = imageSize(bytes) ?? {}
  if (width * height > LIMITS.image_pixels || Math.max(width, height) > LIMITS.image_side_pixels)
    return failed('too_large', 'The image has too many pixels.')
  return ok({ media_type, bytes })
}

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

/** A 400 says that the file is too large for bots, or gone; both stay so. */
function refusedFile(failure: BotFailure): Failed | Unreachable {
  return failure.code >= 400 && failure.code < 500 && failure.code !== 429 ? noFile() : { failure }
}

function unreachable(code: number): Unreachable {
  return { failure: { method: 'download', code } }
}

function noFile(): Failed {
  return failed('unreadable', 'Telegram does not provide this file.')
}

function tooLarge(): Failed {
  return failed('too_large', 'An image may have at most 10 MiB.')
}
