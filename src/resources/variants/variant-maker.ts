import type { Result } from '../../model/errors.ts'
import type { ImageForm, Variant } from './variant.ts'

/** Creates variants of stored bytes. Libraries are loaded on first use. */
export interface VariantMaker {
  /** Resized or cropped. `unsupported_type` if no image library is installed. */
  readonly image: (bytes: Buffer, form: ImageForm) => Promise<Result<Variant>>
  /** The text of a PDF, or of some of its pages. */
  readonly pdfText: (
    bytes: Buffer,
    pages?: { readonly from: number; readonly to: number },
  ) => Promise<Result<Variant>>
}

export const variantMaker: VariantMaker = {
  image: async (bytes, form) => (await import('./image-variant.ts')).imageVariant(bytes, form),
  pdfText: async (bytes, pages) => (await import('./pdf-text.ts')).pdfText(bytes, pages),
}
