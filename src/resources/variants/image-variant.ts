import { base64Length } from '../../encoding/base64.ts'
import { systemClock, type Clock } from '../../host/clock.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { encodeImage, isOpaque, isPlain, type Encoded, type Encoding } from './image-encoding.ts'
import { imageHeader, type ImageHeader } from '../image/header.ts'
import { loadImageLibrary, type ImageLibrary, type LoadImageLibrary } from '../image/library.ts'
import type { ImageWish, Variant } from './variant.ts'

/**
 * Makes an image smaller, or a part of it. It stands upright, as its file asks for; of several frames it is the first; what a
 * camera wrote beside the pixels, such as the place, is not in it. Bounded in time, and never throws.
 *
 * The same bytes, wish and version of the library give the same variant: what is tried next depends on lengths alone.
 */
export function imageVariants({ load, clock }: ImageVariantParts): MakeImageVariant {
  return async (bytes, wish) => {
    const library = await load()
    if (library === undefined) return NO_LIBRARY
    const { format, size } = imageHeader(bytes) ?? {}
    if (format === undefined || size === undefined) return DAMAGED
    if (isTooLarge(size)) return tooLarge(size)
    if (wish.region !== undefined && !lies(wish.region, size)) return notThere(wish.region, size)
    const deadline = clock.monotonicMs() + LIMITS.turn_attachment_ms
    const left = () => deadline - clock.monotonicMs()
    try {
      return await firstThatFits({ library, bytes, format, size: wish.region ?? size, wish, left })
    } catch {
      return left() > 0 ? DAMAGED : TOO_LONG
    }
  }
}

export interface ImageVariantParts {
  readonly load: LoadImageLibrary
  readonly clock: Clock
}

export type MakeImageVariant = (bytes: Buffer, wish: ImageWish) => Promise<Result<Variant>>

/** With what is installed here. */
export const imageVariant = imageVariants({ load: loadImageLibrary, clock: systemClock })

interface Source {
  readonly library: ImageLibrary
  readonly bytes: Buffer
  readonly format: ImageHeader['format']
  /** Of the region, if there is one. */
  readonly size: Size
  readonly wish: ImageWish
  /** How many milliseconds it may still take. */
  readonly left: () => number
}

const MOST_ATTEMPTS = 12

/** Without loss, if that fits; then with more and more loss; then smaller and smaller. */
async function firstThatFits(source: Source): Promise<Result<Variant>> {
  const { library, left } = source
  const { max_base64_bytes: most = Infinity } = source.wish
  let encoding = await firstEncoding(source)
  for (let attempt = 0; attempt < MOST_ATTEMPTS && left() > 0; attempt += 1) {
    const encoded = await encodeImage(library, encoding, left())
    if (base64Length(encoded.bytes.length) <= most) return ok(variantOf(source, encoding, encoded))
    encoding = await nextEncoding(library, encoding, encoded, most)
  }
  return left() > 0 ? neverFits(most) : TOO_LONG
}

/** From the best to the worst that is worth looking at. */
const QUALITIES = [90, 75, 60]
const BEST = 90

/** What lost something when it was made is not worth the bytes of PNG, unless something may show through it. */
async function firstEncoding({ library, bytes, format, size, wish }: Source): Promise<Encoding> {
  const lossy = format === 'jpeg' || (format === 'webp' && (await isPlain(library, bytes)))
  const as = lossy ? ({ format: 'jpeg', quality: BEST } as const) : ({ format: 'png' } as const)
  return { bytes, region: wish.region, box: boxOf(size, wish), as }
}

/** The longest side that all formats written here can have. */
const LONGEST_SIDE = 16_383

/** As many as are tried again and again until they fit: no model looks at more, and each attempt would take seconds. */
const MOST_PIXELS = 16_000_000

function boxOf({ width, height }: Size, wish: ImageWish): Encoding['box'] {
  const { max_side = LONGEST_SIDE, max_base64_bytes, size } = wish
  const pixels = max_base64_bytes === undefined ? Infinity : MOST_PIXELS
  const side = Math.floor(Math.max(width, height) * Math.sqrt(pixels / (width * height)))
  const fitting = (wished = LONGEST_SIDE) =>
    Math.max(1, Math.min(wished, max_side, side, LONGEST_SIDE))
  return { width: fitting(size?.width), height: fitting(size?.height) }
}

/** After one that became too long. */
async function nextEncoding(
  library: ImageLibrary,
  encoding: Encoding,
  { bytes, width, height }: Encoded,
  most: number,
): Promise<Encoding> {
  const { as } = encoding
  if (as.format === 'png') {
    // It lost nothing, so what follows is made of it: it is smaller, and cut and turned already.
    const format = (await isOpaque(library, bytes)) ? 'jpeg' : 'webp'
    return { bytes, region: undefined, box: encoding.box, as: { format, quality: BEST } }
  }
  const worse = QUALITIES.find((quality) => quality < as.quality)
  if (worse !== undefined) return { ...encoding, as: { ...as, quality: worse } }
  const scale = Math.min(0.8, 0.95 * Math.sqrt(most / base64Length(bytes.length)))
  return { ...encoding, box: { width: scaled(width), height: scaled(height) } }

  function scaled(side: number): number {
    return Math.max(1, Math.floor(side * scale))
  }
}

function variantOf({ library, wish }: Source, { as }: Encoding, encoded: Encoded): Variant {
  const { bytes, width, height } = encoded
  const { max_side, max_base64_bytes, region } = wish
  return {
    bytes,
    media_type: `image/${as.format}`,
    width,
    height,
    made: {
      encoder: `sharp ${library.versions.sharp}`,
      ...as,
      width,
      height,
      ...(max_side === undefined ? {} : { max_side }),
      ...(max_base64_bytes === undefined ? {} : { max_base64_bytes }),
      ...(region === undefined ? {} : { region }),
    },
  }
}

type Size = NonNullable<ImageHeader['size']>

function isTooLarge({ width, height }: Size): boolean {
  return width * height > LIMITS.image_pixels || Math.max(width, height) > LIMITS.image_side_pixels
}

type Region = NonNullable<ImageWish['region']>

function lies({ x, y, width, height }: Region, size: Size): boolean {
  return (
    [x, y, width, height].every(Number.isSafeInteger) &&
    Math.min(x, y) >= 0 &&
    Math.min(width, height) >= 1 &&
    x + width <= size.width &&
    y + height <= size.height
  )
}

function notThere({ x, y, width, height }: Region, size: Size): Failed {
  const asked = `${width} by ${height} pixels at ${x}, ${y}`
  const message = `The image is ${size.width} by ${size.height} pixels; a region of ${asked} is not in it.`
  return failed('invalid_args', message, { width: size.width, height: size.height })
}

function tooLarge({ width, height }: Size): Failed {
  const message = `The image has ${width} by ${height} pixels, which is more than is decoded here.`
  return failed('unreadable', message, { code: 'too_many_pixels', width, height })
}

function neverFits(most: number): Failed {
  const message = `The image cannot be made so small that it takes ${most} bytes as base64.`
  return failed('too_large', message, { limit: most })
}

const DAMAGED = failed('unreadable', 'The image is damaged or cut off.', { code: 'corrupt' })

const TOO_LONG = failed('timeout', 'Making the image smaller takes too long.', { code: 'timeout' })

const NO_LIBRARY = failed(
  'unsupported_type',
  'Images cannot be cut or made smaller: the image library, sharp, is not installed.',
  { reason: 'no_image_library' },
  [{ action: 'Install the image library.', command: 'npm install sharp' }],
)
