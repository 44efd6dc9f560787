import * as z from 'zod'
import { Sha256 } from './ids.ts'
import { Count, openObject, type Frozen } from './shape.ts'

/** Both ends are included and counted from 1. */
export const Span = openObject({ from: Count, to: Count })

/** A part of an image, in pixels of the original. */
export const Region = openObject({ x: Count, y: Count, width: Count, height: Count })

/** How a variant was made: by what, and with which parameters. */
export const VariantMade = openObject({
  /** Library and version, as in `sharp 0.35.5`. */
  encoder: z.string(),
  /** As in `jpeg`, or `text` for the words of a document. */
  format: z.string(),
  /** Hash of the bytes that it was made from, which may be a variant, too. */
  of: Sha256.optional(),
  quality: Count.optional(),
  width: Count.optional(),
  height: Count.optional(),
  /** The limits that it was made to meet. */
  max_side: Count.optional(),
  max_base64_bytes: Count.optional(),
  region: Region.optional(),
  pages: Span.optional(),
})
export type VariantMade = Frozen<z.infer<typeof VariantMade>>
