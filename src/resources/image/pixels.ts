import { LIMITS } from '../../model/limits.ts'
import { loadImageLibrary, type ImageLibrary } from './library.ts'

/** A small copy of an image: four bytes per pixel (red, green, blue, opacity), row by row. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Buffer
}

/** Decodes an image to a small copy; undefined if that fails. Picks existing colours and does not blend. */
export type Decode = (bytes: Buffer) => Promise<Pixels | undefined>

/** The decoder, or undefined if the image library is not installed. */
export type LoadDecoder = () => Promise<Decode | undefined>

export const loadDecoder: LoadDecoder = async () => {
  const library = await loadImageLibrary()
  return library === undefined ? undefined : (bytes) => decodeFrame(library, bytes)
}

const LONGEST_SIDE = 96

/** Decodes the first frame. Fails for truncated or damaged images. */
async function decodeFrame(library: ImageLibrary, bytes: Buffer): Promise<Pixels | undefined> {
  try {
    const { data, info } = await library(bytes, {
      failOn: 'error',
      limitInputPixels: LIMITS.image_pixels,
      sequentialRead: true,
    })
      .timeout({ seconds: LIMITS.attachment_ms / 1000 })
      .autoOrient()
      .resize({
        width: LONGEST_SIDE,
        height: LONGEST_SIDE,
        fit: 'inside',
        kernel: 'nearest',
        withoutEnlargement: true,
      })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })
    return { width: info.width, height: info.height, data }
  } catch {
    return undefined
  }
}
