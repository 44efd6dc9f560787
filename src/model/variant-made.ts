import * as z from 'zod'
import { Sha256 } from './ids.ts'
import { Count, openObject, type Frozen } from './shape.ts'

/** Both ends are inclusive and counted from 1. */
export const Span = openObject(() => ({ from: Count, to: Count }))

/** A part of an image, in pixels of the original. */
export const Region = openObject(() => ({ x: Count, y: Count, width: Count, height: Count }))

/** How a variant was made: the encoder and its parameters. */
export const VariantMade = openObject(() => ({
  /** Library and version, such as `sharp 0.35.5`. */
  encoder: z.string(),
  /** Such as `jpeg`, or `text` for the text of a document. */
  format: z.string(),
  /** Hash of the source bytes, which may be a variant, too. */
  of: Sha256.optional(),
  quality: Count.optional(),
  width: Count.optional(),
  height: Count.optional(),
  /** The limits that it was made to fit. */
  max_side: Count.optional(),
  max_base64_bytes: Count.optional(),
  region: Region.optional(),
  pages: Span.optional(),
}))
export type VariantMade = Frozen<z.infer<typeof VariantMade>>
