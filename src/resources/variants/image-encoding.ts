import { LIMITS } from '../../model/limits.ts'
import type { ImageLibrary } from '../image/library.ts'
import type { ImageWish } from './variant.ts'

/** One way to encode an image. */
export interface Encoding {
  readonly bytes: Buffer
  readonly region: ImageWish['region'] | undefined
  /** What it has to fit into, in pixels; it is never enlarged. */
  readonly box: NonNullable<ImageWish['size']>
  readonly as: Lossless | Lossy
}

interface Lossless {
  readonly format: 'png'
}

interface Lossy {
  readonly format: 'jpeg' | 'webp'
  /** 1 to 100. */
  readonly quality: number
}

export interface Encoded {
  readonly bytes: Buffer
  readonly width: number
  readonly height: number
}

/** Rejects when the image is damaged or cut off, and when it takes longer than `ms`. What is not pixels is left out. */
export async function encodeImage(
  library: ImageLibrary,
  { bytes, region, box, as }: Encoding,
  ms: number,
): Promise<Encoded> {
  const image = library(bytes, OPTIONS).timeout({ seconds: Math.max(1, Math.ceil(ms / 1000)) })
  // Before it is turned upright: a region counts pixels as they are stored.
  if (region !== undefined) {
    const { x: left, y: top, width, height } = region
    image.extract({ left, top, width, height })
  }
  image.autoOrient().resize({ ...box, fit: 'inside', withoutEnlargement: true })
  if (as.format === 'png') image.png()
  else if (as.format === 'webp') image.webp({ quality: as.quality })
  // Colours as fine as brightness: much of what models are shown is writing.
  else image.jpeg({ quality: as.quality, chromaSubsampling: '4:4:4' })
  const { data, info } = await image.toBuffer({ resolveWithObject: true })
  return { bytes: data, width: info.width, height: info.height }
}

const OPTIONS = { failOn: 'error', limitInputPixels: LIMITS.image_pixels } as const

/** Whether nothing can show through any pixel, as its header says. */
export async function isPlain(library: ImageLibrary, bytes: Buffer): Promise<boolean> {
  const { hasAlpha } = await library(bytes, OPTIONS).metadata()
  return !hasAlpha
}

/** Whether nothing shows through any pixel: many images, such as those of screens, could be clear somewhere and are not. */
export async function isOpaque(library: ImageLibrary, bytes: Buffer): Promise<boolean> {
  return (await isPlain(library, bytes)) || (await library(bytes, OPTIONS).stats()).isOpaque
}
