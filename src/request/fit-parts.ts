import { base64Length } from '../encoding/base64.ts'
import * as words from '../prompt/words/resources.ts'
import type { LossRecord } from '../model/events/loss.ts'
import type { BlobPart, ConversationItem, Part } from '../model/conversation.ts'
import { LIMITS } from '../model/limits.ts'
import type { SurfaceParams } from '../model/surface.ts'
import type { LostResource } from './load-parts.ts'
import type { ImageCaps, NoForm, Variants } from './variants.ts'

/**
 * Fits the parts of a request, in order, to the limits of its model. A part that does not fit is replaced by a variant, or
 * lost and replaced by a sentence. Depends only on the frozen surface and on recorded variants, so that the same Events always
 * give the same request. A loss must be recorded before the request is sent, so that Events give the same sentence.
 */
export class Fitting {
  readonly #params: SurfaceParams
  readonly #variants: Variants
  readonly #losses: LostResource[] = []
  readonly #reductions = new Map<string, string>()
  #images = 0
  #limitedBytes: number
  #resourceBytes = 0

  /** `limitedBytes` are those of files that belong to no Resource and precede the parts. */
  constructor(params: SurfaceParams, variants: Variants, limitedBytes = 0) {
    this.#params = params
    this.#variants = variants
    this.#limitedBytes = limitedBytes
  }

  /** What all files so far count towards the limit of bytes of a request. */
  get limitedBytes(): number {
    return this.#limitedBytes
  }

  /** Everything so far that did not fit. */
  get losses(): readonly LostResource[] {
    return this.#losses
  }

  /** Images that are shown in a smaller form, with both sizes, for people. */
  get reductions(): readonly string[] {
    return [...this.#reductions.values()]
  }

  async fit(items: readonly ConversationItem[]): Promise<ConversationItem[]> {
    const fitted: ConversationItem[] = []
    for (const item of items) {
      if (!('parts' in item) || item.parts.every(({ type }) => type === 'text')) {
        fitted.push(item)
        continue
      }
      const parts: Part[] = []
      for (const part of item.parts) parts.push(...(await this.#fitPart(part)))
      fitted.push({ ...item, parts })
    }
    return fitted
  }

  async #fitPart(original: Part): Promise<Part[]> {
    if (original.type === 'text') return [original]
    const form = await this.#form(original)
    if ('why' in form) return [this.#lose(original, form)]
    const loss = this.#loss(form)
    if (loss !== undefined) return [this.#lose(original, loss)]
    this.#limitedBytes += base64Bytes(form)
    if (form.resource !== undefined) this.#resourceBytes += form.bytes?.length ?? 0
    if (isImage(form)) this.#images += 1
    return form === original || !isImage(form) ? [form] : [this.#reduce(original, form), form]
  }

  /** The line states the size that the model sees, and has the same lifetime as the image. */
  #reduce(original: BlobPart, form: BlobPart): Part {
    const { handle = 'A stored file', resource, lifetime } = form
    const text = words.reduced(handle, form, original)
    this.#reductions.set(text, `${handle} (${words.reducedTo(form, original)})`)
    return { type: 'text', text, ...(resource === undefined ? {} : { resource }), lifetime }
  }

  /** A part that belongs to no Resource is not recorded as lost. */
  #lose({ handle, lifetime, resource }: BlobPart, loss: LossRecord): Part {
    const text = words.lost(handle, loss)
    if (resource === undefined) return { type: 'text', text, lifetime }
    this.#losses.push({ resource, handle: handle ?? '', ...loss })
    return { type: 'text', text, resource, lifetime }
  }

  /** The part itself if it fits, or a variant of it; also the part itself if no variant can be created here. */
  async #form(part: BlobPart): Promise<BlobPart | LossRecord> {
    if (isPdf(part) && this.#params.files === false) {
      return this.#orLost(part, await this.#variants.words(part))
    }
    if (!isImage(part) || this.#params.images === false) return part
    const caps = this.#caps()
    if (overCaps(part, caps) === undefined) return part
    return this.#orLost(part, await this.#variants.smaller(part, caps))
  }

  /** If variants can be created but this one could not, the part is lost: it is not tried again on every Turn. */
  #orLost(part: BlobPart, form: BlobPart | NoForm): BlobPart | LossRecord {
    if (typeof form !== 'string') return form
    if (form === 'gone') return { why: 'payload_missing' }
    return this.#variants.makes ? { why: 'no_variant' } : part
  }

  #caps(): ImageCaps {
    const { image_base64_bytes, image_side_pixels } = this.#params.limits
    return {
      ...(image_side_pixels === undefined ? {} : { max_side: image_side_pixels }),
      ...(image_base64_bytes === undefined ? {} : { max_base64_bytes: image_base64_bytes }),
    }
  }

  /** Why a part cannot be shown; `undefined` if it can. An unknown limit refuses nothing. */
  #loss(part: BlobPart): LossRecord | undefined {
    const { images, files, limits } = this.#params
    const { image_count, request_bytes } = limits
    if (request_bytes !== undefined && this.#limitedBytes + base64Bytes(part) > request_bytes) {
      return { why: 'over_request', figures: { limit: request_bytes } }
    }
    // The size of converted text is known only here: it may be longer than its file.
    const most = LIMITS.request_resource_bytes
    if (part.resource !== undefined && this.#resourceBytes + (part.bytes?.length ?? 0) > most) {
      return { why: 'over_budget', figures: { limit: most } }
    }
    if (isPdf(part) && files === false) return { why: 'no_files' }
    if (!isImage(part)) return undefined
    if (images === false) return { why: 'no_images' }
    const over = overCaps(part, this.#caps())
    if (over !== undefined) return over
    if (image_count !== undefined && this.#images >= image_count) {
      return { why: 'over_images', figures: { limit: image_count } }
    }
    return undefined
  }
}

function overCaps(
  part: BlobPart,
  { max_side = Infinity, max_base64_bytes = Infinity }: ImageCaps,
): LossRecord | undefined {
  const bytes = base64Bytes(part)
  if (bytes > max_base64_bytes) {
    return { why: 'over_base64', figures: { actual: bytes, limit: max_base64_bytes } }
  }
  const side = Math.max(part.width ?? 0, part.height ?? 0)
  if (side <= max_side) return undefined
  return { why: 'over_side', figures: { actual: side, limit: max_side } }
}

function isImage({ media_type }: BlobPart): boolean {
  return media_type.startsWith('image/')
}

function isPdf({ media_type }: BlobPart): boolean {
  return media_type === 'application/pdf'
}

function base64Bytes({ bytes }: BlobPart): number {
  return base64Length(bytes?.length ?? 0)
}
