import { crc32, deflateSync } from 'node:zlib'
import { random, type Random } from '../host/random.ts'

/** A picture of three by three fields, drawn from a seed, with the facts that a description of it must contain. */
export interface Drawing {
  readonly width: number
  readonly height: number
  /** The names of the fields' colours, row by row. */
  readonly fields: readonly string[]
  /** The fraction of the picture that each colour covers. */
  readonly shares: ReadonlyMap<string, number>
  /** Three bytes per pixel, row by row. */
  readonly pixels: Buffer
}

export const DRAWN_FORMATS = ['png', 'jpeg', 'gif', 'webp'] as const
export type DrawnFormat = (typeof DRAWN_FORMATS)[number]

/** Whether this machine can write formats other than PNG. */
export const canDrawAll = await import('sharp').then(
  () => true,
  () => false,
)

export function drawing(seed: number): Drawing {
  const chance = random(seed)
  const width = 30 + chance.below(500)
  const height = 30 + chance.below(500)
  const few = Array.from({ length: 2 + chance.below(5) }, () => chance.pick(COLOURS))
  const fields = Array.from({ length: 9 }, () => chance.pick(few)).map(({ name, colour }) => {
    return { name, colour: shaded(colour, chance) }
  })
  const pixels = Buffer.alloc(width * height * 3)
  const counts = new Map<string, number>()
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const column = Math.floor(((pixel % width) * 3) / width)
    const row = Math.floor((Math.floor(pixel / width) * 3) / height)
    const { name, colour } = fields[row * 3 + column] ?? { name: '', colour: [] }
    pixels.set(colour, pixel * 3)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const shares = new Map([...counts].map(([name, count]) => [name, count / (width * height)]))
  return { width, height, fields: fields.map(({ name }) => name), shares, pixels }
}

/** Colours by the names that most people use. */
const COLOURS = [
  { name: 'black', colour: [6, 6, 6] },
  { name: 'grey', colour: [126, 128, 127] },
  { name: 'white', colour: [250, 250, 249] },
  { name: 'red', colour: [214, 26, 32] },
  { name: 'orange', colour: [244, 134, 34] },
  { name: 'brown', colour: [122, 76, 38] },
  { name: 'sand', colour: [224, 202, 154] },
  { name: 'yellow', colour: [248, 226, 48] },
  { name: 'green', colour: [36, 148, 62] },
  { name: 'turquoise', colour: [10, 142, 142] },
  { name: 'light blue', colour: [134, 190, 232] },
  { name: 'blue', colour: [32, 88, 216] },
  { name: 'navy', colour: [18, 32, 100] },
  { name: 'purple', colour: [124, 52, 164] },
  { name: 'pink', colour: [242, 132, 180] },
] as const

/** Slightly lighter or darker, so that drawings differ in their colours. */
function shaded(colour: readonly number[], chance: Random): number[] {
  const shade = chance.below(11) - 5
  return colour.map((channel) => Math.min(255, Math.max(0, channel + shade)))
}

/** A PNG drawn from a seed; different seeds give different pictures. */
export function picture(seed: number): Buffer {
  const { width, height, pixels } = drawing(seed)
  return png(width, height, pixels)
}

/** Encodes a drawing as a file. PNG is encoded here; other formats need the image library. */
export async function encodeDrawing(
  { width, height, pixels }: Drawing,
  format: DrawnFormat,
): Promise<Buffer> {
  if (format === 'png') return png(width, height, pixels)
  const { default: sharp } = await import('sharp')
  const image = sharp(pixels, { raw: { width, height, channels: 3 } })
  if (format === 'webp') return image.webp({ quality: 95 }).toBuffer()
  return format === 'jpeg' ? image.jpeg({ quality: 95 }).toBuffer() : image.gif().toBuffer()
}

/**
 * A PNG with three channels of eight bits, without a filter. Width and height are written as given and may be wrong. With
 * `length`, a chunk that readers ignore pads the file to that many bytes.
 */
export function png(width: number, height: number, pixels: Buffer, length = 0): Buffer {
  const rows = Array.from({ length: Math.floor(pixels.length / (width * 3)) }, (_, y) =>
    Buffer.concat([Buffer.of(0), pixels.subarray(y * width * 3, (y + 1) * width * 3)]),
  )
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const chunks = [
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]
  const missing = length - Buffer.concat(chunks).length
  if (missing >= CHUNK_FRAME)
    chunks.splice(2, 0, chunk('fiLl', Buffer.alloc(missing - CHUNK_FRAME)))
  return Buffer.concat(chunks)
}

/** The bytes of a chunk besides its data: length, name and checksum. */
const CHUNK_FRAME = 12

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(body, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
