import type { BlobMediaType } from '../../model/ids.ts'
import type { VariantMade } from '../../model/variant-made.ts'

/**
 * Bytes that are shown instead of a Resource. The same Resource, form and encoder give the same bytes, so that a
 * request can be composed again from the Log.
 */
export interface Variant {
  readonly bytes: Buffer
  readonly media_type: BlobMediaType
  /** Of an image. */
  readonly width?: number
  readonly height?: number
  readonly params: VariantMade
}

/** The requested form of an image. Without any field it is re-encoded at full size; images are never enlarged. */
export interface ImageForm {
  /** The maximum length of a side, in pixels. */
  readonly max_side?: number
  /** The maximum size in base64, which is what providers measure. */
  readonly max_base64_bytes?: number
  /** In pixels of the original as stored, like its header and its descriptor. */
  readonly region?: NonNullable<VariantMade['region']>
  /** The maximum size, in pixels. */
  readonly size?: { readonly width: number; readonly height: number }
}

/** Both ends are inclusive and counted from 1. */
export type VariantSpan = NonNullable<VariantMade['pages']>
