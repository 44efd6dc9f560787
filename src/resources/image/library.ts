import type Sharp from 'sharp'

/** Decodes and encodes images. */
export type ImageLibrary = typeof Sharp

/** The library, or undefined if it is not installed: it is native and therefore optional. */
export type LoadImageLibrary = () => Promise<ImageLibrary | undefined>

export const loadImageLibrary: LoadImageLibrary = async () => {
  const sharp = await import('sharp').then(
    (library) => library.default,
    () => undefined,
  )
  // No cache: the same image is seldom decoded twice.
  sharp?.cache(false)
  return sharp
}
