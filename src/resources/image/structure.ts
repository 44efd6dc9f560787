import type { ImageDescription } from '../../model/description.ts'

/**
 * The end of an image, found by walking its parts without decoding them; undefined if it is truncated or malformed. Other bytes
 * may follow the end, because programs append data of their own.
 */
export function imageEnd(bytes: Buffer, format: ImageDescription['format']): number | undefined {
  return WALKS[format](bytes)
}

type Walk = (bytes: Buffer) => number | undefined

const WALKS: Readonly<Record<ImageDescription['format'], Walk>> = {
  png: pngEnd,
  jpeg: jpegEnd,
  gif: gifEnd,
  webp: webpEnd,
}

/** A chunk has a length, a name, data and a checksum. At least one must contain pixels. */
function pngEnd(bytes: Buffer): number | undefined {
  let at = 8
  let pixels = false
  while (at + 12 <= bytes.length) {
    const next = at + 12 + bytes.readUInt32BE(at)
    if (next > bytes.length) return undefined
    const name = bytes.toString('latin1', at + 4, at + 8)
    if (name === 'IEND') return pixels ? next : undefined
    if (!/^[A-Za-z]{4}$/.test(name)) return undefined
    pixels ||= name === 'IDAT'
    at = next
  }
  return undefined
}

const MARK = 0xff
const START_OF_SCAN = 0xda
const END_OF_IMAGE = 0xd9

/** From marker to marker. Segments with a length are skipped; in the pixel data between others, markers are escaped. */
function jpegEnd(bytes: Buffer): number | undefined {
  let at = 2
  let pixels = false
  for (;;) {
    at = bytes.indexOf(MARK, at)
    if (at === -1) return undefined
    const mark = bytes[at + 1]
    if (mark === undefined) return undefined
    if (mark === END_OF_IMAGE) return pixels ? at + 2 : undefined
    if (mark === MARK) at += 1
    else if (isBare(mark)) at += 2
    else {
      if (at + 4 > bytes.length) return undefined
      const length = bytes.readUInt16BE(at + 2)
      if (length < 2 || at + 2 + length > bytes.length) return undefined
      pixels ||= mark === START_OF_SCAN
      at += 2 + length
    }
  }
}

/** An escaped byte of pixel data, a restart marker, or a marker without a segment. */
function isBare(mark: number): boolean {
  return mark <= 0x01 || (mark >= 0xd0 && mark <= 0xd8)
}

const GIF_IMAGE = 0x2c
const GIF_EXTENSION = 0x21
const GIF_END = 0x3b

function gifEnd(bytes: Buffer): number | undefined {
  let at = 13 + tableBytes(bytes[10])
  let pixels = false
  while (at < bytes.length) {
    const block = bytes[at]
    if (block === GIF_END) return pixels ? at + 1 : undefined
    if (block === GIF_EXTENSION) at = afterPieces(bytes, at + 2)
    else if (block === GIF_IMAGE) {
      pixels = true
      at = afterPieces(bytes, at + 11 + tableBytes(bytes[at + 9]))
    } else return undefined
  }
  return undefined
}

/** The size of a colour table, if the flags say there is one. */
function tableBytes(flags = 0): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1)
}

/** Skips length-prefixed blocks up to the empty one. Past the end of the bytes if there is none. */
function afterPieces(bytes: Buffer, from: number): number {
  let at = from
  for (let length = bytes[at]; length !== undefined && length !== 0; length = bytes[at]) {
    at += 1 + length
  }
  return at + 1
}

/** The file states its length and contains chunks of a name, a length and data, each padded to an even length. */
function webpEnd(bytes: Buffer): number | undefined {
  const end = 8 + bytes.readUInt32LE(4)
  if (end > bytes.length) return undefined
  let at = 12
  let pixels = false
  while (at + 8 <= end) {
    const length = bytes.readUInt32LE(at + 4)
    if (at + 8 + length > end) return undefined
    pixels ||= WEBP_PIXELS.has(bytes.toString('latin1', at, at + 4))
    at += 8 + length + (length % 2)
  }
  return pixels ? end : undefined
}

const WEBP_PIXELS = new Set(['VP8 ', 'VP8L', 'ANMF'])
