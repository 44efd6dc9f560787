/** The EXIF tag for the orientation of an image. */
const ORIENTATION = 0x0112

/** Orientations that swap width and height. */
const SIDEWAYS = new Set([5, 6, 7, 8])

/** Whether EXIF data, as a TIFF structure, specifies a quarter turn. False if it cannot be read. */
export function isSideways(tiff: Buffer): boolean {
  const order = tiff.toString('latin1', 0, 2)
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return false
  const short = (at: number) => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (directory + 2 > tiff.length) return false
  const entries = short(directory)
  for (let entry = 0; entry < entries; entry += 1) {
    const at = directory + 2 + entry * 12
    if (at + 12 > tiff.length) return false
    if (short(at) === ORIENTATION) return SIDEWAYS.has(short(at + 8))
  }
  return false
}

/** EXIF data of a JPEG, from the payload of a segment; undefined if the segment is something else. */
export function exifOfSegment(payload: Buffer): Buffer | undefined {
  return payload.toString('latin1', 0, EXIF.length) === EXIF
    ? payload.subarray(EXIF.length)
    : undefined
}

const EXIF = 'Exif\0\0'

/** EXIF data in the chunks of a PNG or WebP; undefined if there is none. */
export function exifChunk(bytes: Buffer, format: 'png' | 'webp'): Buffer | undefined {
  const isPng = format === 'png'
  let at = isPng ? 8 : 12
  while (at + 8 <= bytes.length) {
    const [length, name] = isPng
      ? [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)]
      : [bytes.readUInt32LE(at + 4), bytes.toString('latin1', at, at + 4)]
    const data = bytes.subarray(at + 8, at + 8 + length)
    if (name === (isPng ? 'eXIf' : 'EXIF')) return exifOfSegment(data) ?? data
    // In a PNG a checksum follows; a WebP chunk is padded to an even length.
    at += 8 + length + (isPng ? 4 : length % 2)
  }
  return undefined
}
