import { base64Length } from '../../encoding/base64.ts'
import { systemClock, type Clock } from '../../host/clock.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import {
  encodeImage,
  isOpaque,
  isPlain,
  type EncodedImage,
  type Encoding,
} from './image-encoding.ts'
import { imageHeader, type ImageHeader } from '../image/header.ts'
import { loadImageLibrary, type ImageLibrary, type LoadImageLibrary } from '../image/library.ts'
import type { ImageForm, Variant } from './variant.ts'

/**
 * Resizes or crops an image. The result is rotated as its file specifies, contains only the first frame, and has no
 * metadata such as a location. Bounded in time; never throws.
 *
 * The same bytes, form and library version give the same variant: the choice of the next attempt depends on sizes
 * alone.
 */
export function imageVariants({ load, clock }: ImageVariantParts): MakeImageVariant {
  return async (bytes, form) => {
    const library = await load()
    if (library === undefined) return NO_LIBRARY
    const { format, size } = imageHeader(bytes) ?? {}
    if (format === undefined || size === undefined) return DAMAGED
    if (isTooLarge(size)) return imageTooLarge(size)
    if (form.region !== undefined && !isInside(form.region, size))
      return outsideImage(form.region, size)
    const deadline = clock.monotonicMs() + LIMITS.turn_attachment_ms
    const timeLeft = () => deadline - clock.monotonicMs()
    try {
      return await firstThatFits({
        library,
        bytes,
        format,
        size: form.region ?? size,
        form,
        timeLeft,
      })
    } catch {
      return timeLeft() > 0 ? DAMAGED : TOO_LONG
    }
  }
}

export interface ImageVariantParts {
  readonly load: LoadImageLibrary
  readonly clock: Clock
}

export type MakeImageVariant = (bytes: Buffer, form: ImageForm) => Promise<Result<Variant>>

/** With the installed library. */
export const imageVariant = imageVariants({ load: loadImageLibrary, clock: systemClock })

interface Source {
  readonly library: ImageLibrary
  readonly bytes: Buffer
  readonly format: ImageHeader['format']
  /** The size of the region, if there is one. */
  readonly size: Size
  readonly form: ImageForm
  /** The remaining time in milliseconds. */
  readonly timeLeft: () => number
}

const MOST_ATTEMPTS = 12

/** Tries lossless first, then lower qualities, then smaller sizes. */
async function firstThatFits(source: Source): Promise<Result<Variant>> {
  const { library, timeLeft } = source
  const { max_base64_bytes: most = Infinity } = source.form
  let encoding = await firstEncoding(source)
  for (let attempt = 0; attempt < MOST_ATTEMPTS && timeLeft() > 0; attempt += 1) {
    const encoded = await encodeImage(library, encoding, timeLeft())
    if (base64Length(encoded.bytes.length) <= most) return ok(variantOf(source, encoding, encoded))
    encoding = await nextEncoding(library, encoding, encoded, most)
  }
  return timeLeft() > 0 ? neverFits(most) : TOO_LONG
}

/** From the best to the lowest acceptable. */
const QUALITIES = [90, 75, 60]
const BEST = 90

/** A source with lossy compression is not worth the size of PNG, unless it may be transparent. */
async function firstEncoding({ library, bytes, format, size, form }: Source): Promise<Encoding> {
  const lossy = format === 'jpeg' || (format === 'webp' && (await isPlain(library, bytes)))
  const as = lossy ? ({ format: 'jpeg', quality: BEST } as const) : ({ format: 'png' } as const)
  return { bytes, region: form.region, box: boxOf(size, form), as }
}

/** The longest side that all output formats support. */
const LONGEST_SIDE = 16_383

/** The most pixels for repeated attempts: no model uses more, and each attempt would take seconds. */
const MOST_PIXELS = 16_000_000

function boxOf({ width, height }: Size, form: ImageForm): Encoding['box'] {
  const { max_side = LONGEST_SIDE, max_base64_bytes, size } = form
  const pixels = max_base64_bytes === undefined ? Infinity : MOST_PIXELS
  const side = Math.floor(Math.max(width, height) * Math.sqrt(pixels / (width * height)))
  const fitting = (requested = LONGEST_SIDE) =>
    Math.max(1, Math.min(requested, max_side, side, LONGEST_SIDE))
  return { width: fitting(size?.width), height: fitting(size?.height) }
}

/** The next attempt after one that was too large. */
async function nextEncoding(
  library: ImageLibrary,
  encoding: Encoding,
  { bytes, width, height }: EncodedImage,
  most: number,
): Promise<Encoding> {
  const { as } = encoding
  if (as.format === 'png') {
    // The previous attempt was lossless, so later ones start from it: it is smaller, and already cropped and rotated.
    const format = (await isOpaque(library, bytes)) ? 'jpeg' : 'webp'
    return { bytes, region: undefined, box: encoding.box, as: { format, quality: BEST } }
  }
  const worse = QUALITIES.find((quality) => quality < as.quality)
  if (worse !== undefined) return { ...encoding, as: { ...as, quality: worse } }
  const scale = Math.min(0.8, 0.95 * Math.sqrt(most / base64Length(bytes.length)))
  return { ...encoding, box: { width: scaleSide(width), height: scaleSide(height) } }

  function scaleSide(side: number): number {
    return Math.max(1, Math.floor(side * scale))
  }
}

function variantOf({ library, form }: Source, { as }: Encoding, encoded: EncodedImage): Variant {
  const { bytes, width, height } = encoded
  const { max_side, max_base64_bytes, region } = form
  return {
    bytes,
    media_type: `image/${as.format}`,
    width,
    height,
    params: {
      encoder: `sharp ${library.versions.sharp}`,
      ...as,
      width,
      height,
      ...definedFields({ max_side, max_base64_bytes, region }),
    },
  }
}

type Size = NonNullable<ImageHeader['size']>

function isTooLarge({ width, height }: Size): boolean {
  return width * height > LIMITS.image_pixels || Math.max(width, height) > LIMITS.image_side_pixels
}

type Region = NonNullable<ImageForm['region']>

function isInside({ x, y, width, height }: Region, size: Size): boolean {
  return (
    [x, y, width, height].every(Number.isSafeInteger) &&
    Math.min(x, y) >= 0 &&
    Math.min(width, height) >= 1 &&
    x + width <= size.width &&
    y + height <= size.height
  )
}

function outsideImage({ x, y, width, height }: Region, size: Size): Failed {
  const requested = `${width} by ${height} pixels at ${x}, ${y}`
  const message = `The image is ${size.width} by ${size.height} pixels; the region of ${requested} is outside it.`
  return failed('invalid_args', message, { width: size.width, height: size.height })
}

function imageTooLarge({ width, height }: Size): Failed {
  const message = `The image has ${width} by ${height} pixels, which exceeds the decoding limit.`
  return failed('unreadable', message, { code: 'too_many_pixels', width, height })
}

function neverFits(most: number): Failed {
  const message = `The image cannot be reduced to ${most} bytes in base64.`
  return failed('too_large', message, { limit: most })
}

const DAMAGED = failed('unreadable', 'The image is damaged or truncated.', { code: 'corrupt' })

const TOO_LONG = failed('timeout', 'Reducing the image takes too long.', { code: 'timeout' })

const NO_LIBRARY = failed(
  'unsupported_type',
  'Images cannot be cropped or resized: the image library sharp is not installed.',
  { reason: 'no_image_library' },
  [{ action: 'Install the image library.', command: 'npm install sharp' }],
)
