import type { ImageDescription } from '../../model/description.ts'
import { exifChunk, exifOfSegment, isSideways } from './orientation.ts'

/** The facts in the first bytes of an image. */
export interface ImageHeader {
  readonly format: ImageDescription['format']
  /** As displayed, rotated as its EXIF data specifies. Absent if the header is invalid after its magic bytes. */
  readonly size?: { readonly width: number; readonly height: number }
}

/** The header of a PNG, JPEG, GIF or WebP image; undefined for other bytes. Looks at the bytes only. */
export function imageHeader(bytes: Buffer): ImageHeader | undefined {
  const known = FORMATS.find(({ at, magic }) => bytes.subarray(at, at + magic.length).equals(magic))
  if (known === undefined) return undefined
  const size = known.size(bytes)
  const { format } = known
  return size === undefined || size.width === 0 || size.height === 0 ? { format } : { format, size }
}

type Size = ImageHeader['size']

interface Format {
  readonly format: ImageDescription['format']
  readonly at: number
  readonly magic: Buffer
  size(bytes: Buffer): Size
}

const FORMATS: readonly Format[] = [
  { format: 'png', at: 0, magic: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), size: pngSize },
  { format: 'jpeg', at: 0, magic: Buffer.from([0xff, 0xd8, 0xff]), size: jpegSize },
  { format: 'gif', at: 0, magic: Buffer.from('GIF87a'), size: gifSize },
  { format: 'gif', at: 0, magic: Buffer.from('GIF89a'), size: gifSize },
  { format: 'webp', at: 8, magic: Buffer.from('WEBP'), size: webpSize },
]

function pngSize(bytes: Buffer): Size {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  return upright(size, exifChunk(bytes, 'png'))
}

function upright({ width, height }: NonNullable<Size>, exif: Buffer | undefined): Size {
  return exif !== undefined && isSideways(exif)
    ? { width: height, height: width }
    : { width, height }
}

/** The logical screen, which is what is displayed; single frames may be smaller. */
function gifSize(bytes: Buffer): Size {
  if (bytes.length < 10) return undefined
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

/** Walks the segments by their lengths to the start of a frame. */
function jpegSize(bytes: Buffer): Size {
  let at = 2
  let exif: Buffer | undefined
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    if (isFrame(marker)) {
      const size = { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
      return upright(size, exif)
    }
    if (marker === APP1)
      exif ??= exifOfSegment(bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2)))
    // Any number of 0xff bytes may precede a marker, and some markers have no length.
    if (marker === 0xff) at += 1
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return undefined
}

/** The segment that EXIF data is in. */
const APP1 = 0xe1

/** 0xc4, 0xc8 and 0xcc are in the same range but are tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}

function webpSize(bytes: Buffer): Size {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF') return undefined
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X': {
      const size = { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
      return upright(size, exifChunk(bytes, 'webp'))
    }
    default:
      return undefined
  }
}
