import { LIMITS } from '../../model/limits.ts'
import { loadImageLibrary, type ImageLibrary } from './library.ts'

/** A small copy of an image: four bytes a pixel, red, green, blue and opacity, row by row. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Buffer
}

/** Decodes an image to a small copy of it; `undefined` when that is not possible. Keeps the colours that are there, mixing none. */
export type Decode = (bytes: Buffer) => Promise<Pixels | undefined>

/** The decoder, or `undefined` where the image library is not installed. */
export type LoadDecoder = () => Promise<Decode | undefined>

export const loadDecoder: LoadDecoder = async () => {
  const library = await loadImageLibrary()
  return library === undefined ? undefined : (bytes) => decoded(library, bytes)
}

const LONGEST_SIDE = 96

/** The first frame, where there are several. What is cut off or damaged is refused, and not guessed at. */
async function decoded(library: ImageLibrary, bytes: Buffer): Promise<Pixels | undefined> {
  try {
    const { data, info } = await library(bytes, {
      failOn: 'error',
      limitInputPixels: LIMITS.image_pixels,
      sequentialRead: true,
    })
      .timeout({ seconds: LIMITS.attachment_ms / 1000 })
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
