import type Sharp from 'sharp'

/** What decodes and encodes images. */
export type ImageLibrary = typeof Sharp

/** The library, or `undefined` where it is not installed: it is optional, because it is native. */
export type LoadImageLibrary = () => Promise<ImageLibrary | undefined>

export const loadImageLibrary: LoadImageLibrary = async () => {
  const sharp = await import('sharp').then(
    (library) => library.default,
    () => undefined,
  )
  // It keeps nothing of what it decoded: the same image seldom comes twice.
  sharp?.cache(false)
  return sharp
}
