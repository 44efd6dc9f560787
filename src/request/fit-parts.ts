import { base64Length } from '../encoding/base64.ts'
import * as words from '../encoding/words/resources.ts'
import type { BlobPart, ConversationItem, Part } from '../model/conversation.ts'
import type { SurfaceParams } from '../model/surface.ts'
import type { Lost } from './load-parts.ts'
import type { ImageCaps, NoForm, Variants } from './variants.ts'

/** A part that a model is not shown because it does not accept it. */
export interface Unfit {
  /** Its name for people and models. */
  readonly handle: string | undefined
  readonly why: string
}

/**
 * Fits the parts of a request to what its model accepts, in order: a part that does not fit is replaced by a variant,
 * or by a description with the same lifetime. Decided by the frozen surface and by recorded variants, so that the same
 * Events always give the same request.
 */
export class Fitting {
  readonly #params: SurfaceParams
  readonly #variants: Variants
  readonly #unfit: Unfit[] = []
  readonly #lost: Lost[] = []
  #images = 0
  #bytes = 0

  constructor(params: SurfaceParams, variants: Variants) {
    this.#params = params
    this.#variants = variants
  }

  /** All parts so far that did not fit. */
  get unfit(): readonly Unfit[] {
    return this.#unfit
  }

  /** Resources without any acceptable variant; this must be recorded first. */
  get lost(): readonly Lost[] {
    return this.#lost
  }

  async fit(items: readonly ConversationItem[]): Promise<ConversationItem[]> {
    const fitted: ConversationItem[] = []
    for (const item of items) {
      if (!('parts' in item) || item.parts.every(({ type }) => type === 'text')) {
        fitted.push(item)
        continue
      }
      const parts: Part[] = []
      for (const part of item.parts) parts.push(await this.#fitPart(part))
      fitted.push({ ...item, parts })
    }
    return fitted
  }

  async #fitPart(original: Part): Promise<Part> {
    if (original.type === 'text') return original
    const part = await this.#form(original)
    const why = this.#reason(part)
    if (why === undefined) {
      this.#bytes += base64Bytes(part)
      if (isImage(part)) this.#images += 1
      return part
    }
    const { handle, lifetime, resource } = part
    this.#unfit.push({ handle, why })
    const text = words.unfit(handle, why)
    return { type: 'text', text, ...(resource === undefined ? {} : { resource }), lifetime }
  }

  /** The part itself if it fits, or a variant; the unchanged part if there is none. */
  async #form(part: BlobPart): Promise<BlobPart> {
    if (isPdf(part) && this.#params.files === false) {
      return this.#orLost(part, await this.#variants.words(part))
    }
    if (!isImage(part) || this.#params.images === false) return part
    const caps = this.#caps()
    if (overCaps(part, caps) === undefined) return part
    return this.#orLost(part, await this.#variants.smaller(part, caps))
  }

  /** If variants can be made and this one failed, it is not tried again on every Turn. */
  #orLost(part: BlobPart, form: BlobPart | NoForm): BlobPart {
    if (typeof form !== 'string') return form
    const { resource, handle = '' } = part
    const why = form === 'gone' ? 'payload_missing' : 'no_variant'
    const isLost = form === 'gone' || this.#variants.makes
    if (resource !== undefined && isLost) this.#lost.push({ resource, handle, why })
    return part
  }

  #caps(): ImageCaps {
    const { image_base64_bytes, image_side_pixels } = this.#params.limits
    return {
      ...(image_side_pixels === undefined ? {} : { max_side: image_side_pixels }),
      ...(image_base64_bytes === undefined ? {} : { max_base64_bytes: image_base64_bytes }),
    }
  }

  /** Why a part cannot be shown; `undefined` if it can. An unknown limit refuses nothing. */
  #reason(part: BlobPart): string | undefined {
    const { images, files, limits } = this.#params
    const { image_count, request_bytes } = limits
    if (request_bytes !== undefined && this.#bytes + base64Bytes(part) > request_bytes) {
      return words.overRequest(request_bytes)
    }
    if (isPdf(part) && files === false) return words.takesNo('PDF files')
    if (!isImage(part)) return undefined
    if (images === false) return words.takesNo('images')
    const over = overCaps(part, this.#caps())
    if (over !== undefined) return over
    if (image_count !== undefined && this.#images >= image_count) {
      return words.overImages(image_count)
    }
    return undefined
  }
}

function overCaps(part: BlobPart, { max_side, max_base64_bytes }: ImageCaps): string | undefined {
  const bytes = base64Bytes(part)
  if (max_base64_bytes !== undefined && bytes > max_base64_bytes) {
    return words.overBase64(bytes, max_base64_bytes)
  }
  const side = Math.max(part.width ?? 0, part.height ?? 0)
  if (max_side === undefined || side <= max_side) return undefined
  return words.overSide(side, max_side)
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
