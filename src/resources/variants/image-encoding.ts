import { LIMITS } from '../../model/limits.ts'
import type { ImageLibrary } from '../image/library.ts'
import type { ImageForm } from './variant.ts'

/** Parameters for encoding an image. */
export interface Encoding {
  readonly bytes: Buffer
  readonly region: ImageForm['region'] | undefined
  /** The maximum size in pixels; the image is never enlarged. */
  readonly box: NonNullable<ImageForm['size']>
  readonly as: Lossless | Lossy
}

interface Lossless {
  readonly format: 'png'
}

interface Lossy {
  readonly format: 'jpeg' | 'webp'
  /** From 1 to 100. */
  readonly quality: number
}

export interface EncodedImage {
  readonly bytes: Buffer
  readonly width: number
  readonly height: number
}

/** Rejects if the image is damaged or truncated, or if encoding takes longer than `ms`. Drops metadata. */
export async function encodeImage(
  library: ImageLibrary,
  { bytes, region, box, as }: Encoding,
  ms: number,
): Promise<EncodedImage> {
  const image = library(bytes, OPTIONS).timeout({ seconds: Math.max(1, Math.ceil(ms / 1000)) })
  // Before cropping, because a region is in pixels of the displayed image.
  image.autoOrient()
  if (region !== undefined) {
    const { x: left, y: top, width, height } = region
    image.extract({ left, top, width, height })
  }
  image.resize({ ...box, fit: 'inside', withoutEnlargement: true })
  if (as.format === 'png') image.png()
  else if (as.format === 'webp') image.webp({ quality: as.quality })
  // No chroma subsampling, because many images contain text.
  else image.jpeg({ quality: as.quality, chromaSubsampling: '4:4:4' })
  const { data, info } = await image.toBuffer({ resolveWithObject: true })
  return { bytes: data, width: info.width, height: info.height }
}

const OPTIONS = { failOn: 'error', limitInputPixels: LIMITS.image_pixels } as const

/** Whether the header excludes transparency. */
export async function isPlain(library: ImageLibrary, bytes: Buffer): Promise<boolean> {
  const { hasAlpha } = await library(bytes, OPTIONS).metadata()
  return !hasAlpha
}

/** Whether all pixels are opaque: many images, such as screenshots, have an alpha channel but no transparency. */
export async function isOpaque(library: ImageLibrary, bytes: Buffer): Promise<boolean> {
  return (await isPlain(library, bytes)) || (await library(bytes, OPTIONS).stats()).isOpaque
}
