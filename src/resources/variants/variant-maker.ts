import type { Result } from '../../model/errors.ts'
import type { ImageWish, Variant } from './variant.ts'

/** Makes other forms of stored bytes. The libraries it takes are loaded when they are first needed. */
export interface VariantMaker {
  /** Smaller, or a part of it. `unsupported_type` where no image library is installed. */
  readonly image: (bytes: Buffer, wish: ImageWish) => Promise<Result<Variant>>
  /** The words of a PDF, or of some of its pages. */
  readonly pdfText: (
    bytes: Buffer,
    pages?: { readonly from: number; readonly to: number },
  ) => Promise<Result<Variant>>
}

export const variantMaker: VariantMaker = {
  image: async (bytes, wish) => (await import('./image-variant.ts')).imageVariant(bytes, wish),
  pdfText: async (bytes, pages) => (await import('./pdf-text.ts')).pdfText(bytes, pages),
}
