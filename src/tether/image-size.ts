import { imageHeader } from '../resources/image/header.ts'

/** The size of an image in pixels, from its first bytes; `undefined` if they do not say. */
export function imageSize(
  bytes: Buffer,
): { readonly width: number; readonly height: number } | undefined {
  return imageHeader(bytes)?.size
}
