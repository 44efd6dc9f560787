import type { BlobPart, ConversationItem, Part } from '../model/conversation.ts'
import type { ResourceId } from '../model/ids.ts'
import type { SurfaceParams } from '../model/surface.ts'

/** Something that a model is not shown because it does not take it, in words for it and for the person. */
export interface Unfit {
  readonly resource: ResourceId | undefined
  readonly text: string
}

/**
 * Fits what a request shows to what its model takes, in order: what does not fit is told instead, in its place and for as
 * long as it would have stood there. Decided by the frozen surface, so that the same Events always give the same request.
 */
export class Fitting {
  readonly #params: SurfaceParams
  readonly #unfit: Unfit[] = []
  #images = 0
  #bytes = 0

  constructor(params: SurfaceParams) {
    this.#params = params
  }

  /** Everything so far that did not fit. */
  get unfit(): readonly Unfit[] {
    return this.#unfit
  }

  fit(items: readonly ConversationItem[]): ConversationItem[] {
    return items.map((item) => {
      if (!('parts' in item) || item.parts.every(({ type }) => type === 'text')) return item
      return { ...item, parts: item.parts.map((part) => this.#fitPart(part)) }
    })
  }

  #fitPart(part: Part): Part {
    if (part.type === 'text') return part
    const why = this.#reason(part)
    if (why === undefined) {
      this.#bytes += base64Bytes(part)
      if (isImage(part)) this.#images += 1
      return part
    }
    const text = `[${part.handle ?? 'A stored file'} is not shown: ${why}.]`
    this.#unfit.push({ resource: part.resource, text })
    const { lifetime } = part
    return { type: 'text', text, lifetime }
  }

  /** Why a part cannot be shown; `undefined` when it can. A limit that nobody knows refuses nothing. */
  #reason(part: BlobPart): string | undefined {
    const { images, files, limits } = this.#params
    const { image_base64_bytes, image_side_pixels, image_count, request_bytes } = limits
    const bytes = base64Bytes(part)
    if (request_bytes !== undefined && this.#bytes + bytes > request_bytes) {
      return `with it the request would be over ${request_bytes} bytes, which is all this model takes`
    }
    if (part.media_type === 'application/pdf' && files === false) {
      return 'this model does not take PDF files'
    }
    if (!isImage(part)) return undefined
    if (images === false) return 'this model does not take images'
    if (image_base64_bytes !== undefined && bytes > image_base64_bytes) {
      return `it has ${bytes} bytes in base64, and this model takes at most ${image_base64_bytes}`
    }
    const side = Math.max(part.width ?? 0, part.height ?? 0)
    if (image_side_pixels !== undefined && side > image_side_pixels) {
      return `its longer side has ${side} pixels, and this model takes at most ${image_side_pixels}`
    }
    if (image_count !== undefined && this.#images >= image_count) {
      return `this model takes at most ${image_count} images in a request`
    }
    return undefined
  }
}

function isImage({ media_type }: BlobPart): boolean {
  return media_type.startsWith('image/')
}

function base64Bytes({ bytes }: BlobPart): number {
  return Math.ceil((bytes?.length ?? 0) / 3) * 4
}
