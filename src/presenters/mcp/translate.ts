import type * as z from 'zod'
import { isBase64 } from '../../encoding/base64.ts'
import { failed, ok, type Failed, type HawserError, type Result } from '../../model/errors.ts'
import type { ImageReference } from '../../model/tether/frame.ts'
import type { FramePage } from '../../tether/frames/frame-query.ts'
import type { StoredImage } from '../../tether/tether.ts'
import type { ToolContent, CallResult } from './tool.ts'

/** A value as structured content, and as text for clients that read only text. */
export function valueResult(value: object, more: readonly ToolContent[] = []): CallResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }, ...more],
    structuredContent: { ...value },
  }
}

/** A failure that the model can read and react to. */
export function failureResult({ kind, message, details, next_actions }: HawserError): CallResult {
  return { ...valueResult({ error: { kind, message, details, next_actions } }), isError: true }
}

/** The arguments of a call, checked by the schema of the tool. */
export function checkedInput<T>(schema: z.ZodType<T>, args: unknown): Result<T> {
  const found = schema.safeParse(args ?? {})
  if (found.success) return ok(found.data)
  const problems = found.error.issues.slice(0, MOST_PROBLEMS).map(({ path, message }) => {
    const field = path.map(String).join('.')
    return field === '' ? message : `${field}: ${message}`
  })
  return failed('invalid_args', `Invalid arguments: ${problems.join('; ')}.`, { problems })
}

const MOST_PROBLEMS = 10

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

/** A message as a client sends it, with its images in base64. */
interface GivenMessage {
  readonly text: string
  readonly images?: readonly { readonly media_type: string; readonly data: string }[] | undefined
}

/** The parts of a message, with its images as bytes. */
export function newMessage({ text, images = [] }: GivenMessage): Result<{
  readonly text: string
  readonly images: readonly StoredImage[]
}> {
  const stored: StoredImage[] = []
  for (const [at, { media_type, data }] of images.entries()) {
    const type = IMAGE_TYPES.find((one) => one === media_type)
    if (type === undefined) return unsupportedImage(at + 1)
    if (!isBase64(data)) return notBase64(at + 1)
    stored.push({ media_type: type, bytes: Buffer.from(data, 'base64') })
  }
  return ok({ text, images: stored })
}

function unsupportedImage(position: number): Failed {
  const message = `Image ${position} must be ${IMAGE_TYPES.join(', ')}.`
  return failed('unsupported_type', message, { position })
}

function notBase64(position: number): Failed {
  const message = `The data of image ${position} is not base64. It must be padded, without line breaks and without a "data:" prefix.`
  return failed('invalid_args', message, { position })
}

/**
 * The start of a page whose images do not exceed `limit` bytes; the next page continues with the frame that would exceed it.
 * Always contains the first frame.
 */
export function pageWithin(page: FramePage, limit: number): FramePage {
  let bytes = 0
  for (const [at, { seq }] of page.frames.entries()) {
    for (const { size } of imagesOf(page.frames.slice(at, at + 1))) bytes += size
    if (bytes <= limit || at === 0) continue
    return { ...page, frames: page.frames.slice(0, at), next_seq: seq - 1 }
  }
  return page
}

/** The images of answers, in order. */
export function imagesOf(frames: FramePage['frames']): readonly ImageReference[] {
  return frames.flatMap((frame) =>
    frame.type === 'assistant.done' ? (frame.payload.images ?? []) : [],
  )
}

export function imageContent(image: Result<StoredImage>): ToolContent {
  // The message names the image.
  if (!image.ok) return { type: 'text', text: `[${image.error.message}]` }
  const { media_type, bytes } = image.value
  return { type: 'image', data: bytes.toString('base64'), mimeType: media_type }
}
