import type { BlobMediaType } from '../../model/ids.ts'
import type { VariantMade } from '../../model/variant-made.ts'

/**
 * Bytes that were made of a Resource to be shown instead of it. The same Resource, wish and encoder give the same bytes, so that
 * a request can be made again from what the Log tells of it.
 */
export interface Variant {
  readonly bytes: Buffer
  readonly media_type: BlobMediaType
  /** Of an image. */
  readonly width?: number
  readonly height?: number
  readonly made: VariantMade
}

/** What an image is to be made into. Without a wish it is encoded anew, whole and as large as it is; none is ever enlarged. */
export interface ImageWish {
  /** The longest that a side may be, in pixels. */
  readonly max_side?: number
  /** How long it may be in base64, which is what providers measure. */
  readonly max_base64_bytes?: number
  /** In pixels of the original as they are stored, which is how its header and its descriptor count them. */
  readonly region?: NonNullable<VariantMade['region']>
  /** What it has to fit into, in pixels. */
  readonly size?: { readonly width: number; readonly height: number }
}

/** Both ends are included and counted from 1. */
export type VariantSpan = NonNullable<VariantMade['pages']>
