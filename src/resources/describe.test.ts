import { expect, test } from 'vitest'
import {
  canDrawAll,
  DRAWN_FORMATS,
  drawing,
  encodeDrawing,
  png,
  type Drawing,
  type DrawnFormat,
} from '../../test/support/resources/drawing.ts'
import { random } from '../../test/support/host/random.ts'
import { buildPdf } from '../../test/support/resources/build-pdf.ts'
import { systemClock } from '../host/clock.ts'
import type { Description } from '../model/description.ts'
import { describe as look, describer } from './describe.ts'

/** As on a machine where the image library is not installed. */
const describeWithoutLibrary = describer({
  load: () => Promise.resolve(undefined),
  clock: systemClock,
})

const SEEDS = Array.from({ length: 12 }, (_, seed) => seed)
const FORMATS = canDrawAll ? DRAWN_FORMATS : []

test.skipIf(!canDrawAll).each(DRAWN_FORMATS)(
  'the description of a %s image matches what was drawn',
  async (format) => {
    for (const seed of SEEDS) {
      const picture = drawing(seed)
      const description = await look(await encodeDrawing(picture, format), `image/${format}`)
      expectDrawn(description, picture, format)
    }
  },
)

function expectDrawn(description: Description, picture: Drawing, format: DrawnFormat): void {
  const [topLeft, , topRight, , centre, , bottomLeft, , bottomRight] = picture.fields
  const { width, height, shares } = picture
  expect(description).toMatchObject({ kind: 'image', format, width, height, decoded: true })
  if (description.kind !== 'image') return
  expect(description.regions).toEqual([
    { where: 'top left', colour: topLeft },
    { where: 'top right', colour: topRight },
    { where: 'centre', colour: centre },
    { where: 'bottom left', colour: bottomLeft },
    { where: 'bottom right', colour: bottomRight },
  ])
  expect(description.colours.length).toBe(Math.min(4, shares.size))
  for (const { name, share } of description.colours) {
    expect(Math.abs(share - (shares.get(name) ?? 0))).toBeLessThan(0.05)
  }
}

test.skipIf(!canDrawAll)('an image without opaque pixels is described as such', async () => {
  const { default: sharp } = await import('sharp')
  const clear = { r: 255, g: 0, b: 0, alpha: 0 }
  const create = { width: 20, height: 10, channels: 4, background: clear } as const
  const description = await look(await sharp({ create }).png().toBuffer(), 'image/png')
  expect(description).toMatchObject({ colours: [{ name: 'transparent', share: 1 }] })
})

test.skipIf(!canDrawAll)('an image of one pixel has a colour in every region', async () => {
  const description = await look(png(1, 1, Buffer.from([255, 0, 0])), 'image/png')
  expect(description.kind === 'image' && description.regions.map(({ colour }) => colour)).toEqual(
    Array.from({ length: 5 }, () => 'red'),
  )
})

test.each(canDrawAll ? DRAWN_FORMATS : (['png'] as const))(
  'without the image library only the header of a %s image is described',
  async (format) => {
    for (const seed of SEEDS) {
      const picture = drawing(seed)
      const { width, height } = picture
      const facts = { kind: 'image', format, width, height, colours: [], regions: [] }
      const description = await describeWithoutLibrary(
        await encodeDrawing(picture, format),
        `image/${format}`,
      )
      expect(description).toEqual({ ...facts, decoded: false })
    }
  },
)

test.skipIf(!canDrawAll)('every kind of WebP and of JPEG has a header that is read', async () => {
  const { default: sharp } = await import('sharp')
  const { width, height, pixels } = drawing(3)
  const image = () => sharp(pixels, { raw: { width, height, channels: 3 } })
  const files = await Promise.all([
    image().webp({ lossless: true }).toBuffer(),
    image().ensureAlpha(0.5).webp().toBuffer(),
    image()
      .withExif({ IFD0: { Copyright: 'nobody' } })
      .webp()
      .toBuffer(),
    image().jpeg({ progressive: true }).toBuffer(),
    image()
      .withExif({ IFD0: { Copyright: 'nobody' } })
      .jpeg()
      .toBuffer(),
  ])
  for (const file of files) {
    expect(await describeWithoutLibrary(file, 'image/webp')).toMatchObject({ width, height })
    expect(await look(file, 'image/webp')).toMatchObject({ width, height, decoded: true })
  }
})

const WIDE = Buffer.alloc(30_000 * 3 * 2)

test.each([
  ['empty', 'no bytes', Buffer.alloc(0), 'image/png'],
  ['corrupt', 'the magic of a PNG alone', png(9, 9, WIDE).subarray(0, 8), 'image/png'],
  ['corrupt', 'the header of a PNG without a size', png(0, 9, Buffer.alloc(0)), 'image/png'],
  ['too_many_pixels', '900 megapixels', png(30_000, 30_000, WIDE), 'image/png'],
  ['too_many_pixels', 'a side that is too long', png(30_000, 2, WIDE), 'image/png'],
  ['type_mismatch', 'a text declared as an image', Buffer.from('hello'), 'image/png'],
  ['type_mismatch', 'an archive declared as a PDF', Buffer.from('PK\x03\x04'), 'application/pdf'],
  ['unsupported_type', 'an archive', Buffer.from('PK\x03\x04'), 'application/octet-stream'],
  ['corrupt', 'half a PDF', buildPdf(['one']).subarray(0, 300), 'application/pdf'],
  ['encrypted', 'a locked PDF', buildPdf(['one'], { encrypted: true }), 'application/pdf'],
])('%s is reported for %s', async (code, _, bytes, media_type) => {
  const description = await look(bytes, media_type)
  expect(description).toMatchObject({ kind: 'unreadable', code })
  expect(await describeWithoutLibrary(bytes, media_type)).toEqual(description)
})

test.skipIf(!canDrawAll).each(DRAWN_FORMATS)(
  'a %s image that is truncated, or continues as garbage, is unreadable',
  async (format) => {
    const file = await encodeDrawing(drawing(5), format)
    const corrupt = { kind: 'unreadable', code: 'corrupt' }
    for (const part of [0.2, 0.5, 0.8]) {
      const cut = file.subarray(0, Math.ceil(file.length * part))
      expect(await look(cut, `image/${format}`)).toMatchObject(corrupt)
    }
    const garbage = Buffer.concat([file.subarray(0, 40), random(5).bytes(file.length)])
    expect(await look(garbage, `image/${format}`)).toMatchObject(corrupt)
  },
)

test('an image with any bytes changed still gets an answer', async () => {
  const chance = random(11)
  const files = [
    ...(await Promise.all(FORMATS.map((format) => encodeDrawing(drawing(6), format)))),
    png(40, 40, Buffer.alloc(40 * 40 * 3)),
  ]
  for (let round = 0; round < 300; round += 1) {
    const file = Buffer.from(chance.pick(files))
    for (let spoilt = 0; spoilt <= chance.below(8); spoilt += 1)
      file[chance.below(file.length)] = chance.below(256)
    const bytes = file.subarray(0, chance.pick([file.length, chance.below(file.length)]))
    const { kind } = await look(bytes, 'image/png')
    expect(['image', 'unreadable', 'text']).toContain(kind)
  }
})

test('a document with any bytes changed still gets an answer', async () => {
  const chance = random(12)
  const pdf = buildPdf(['one two', 'three'])
  for (let round = 0; round < 8; round += 1) {
    const file = Buffer.from(pdf)
    for (let spoilt = 0; spoilt <= chance.below(30); spoilt += 1)
      file[10 + chance.below(file.length - 10)] = chance.below(256)
    const { kind } = await look(file, 'application/pdf')
    expect(['pdf', 'unreadable']).toContain(kind)
  }
})

test('bytes are described by their content, whatever their declared type', async () => {
  const { width, height, pixels } = drawing(1)
  const picture = png(width, height, pixels)
  expect(await look(picture, 'application/octet-stream')).toMatchObject({ format: 'png', width })
  expect(await look(buildPdf(['one two']), 'text/plain')).toEqual({
    kind: 'pdf',
    pages: 1,
    words: 2,
  })
})

test.each([
  ['a line', 'one two', 1, 2],
  ['lines that all end', 'one\ntwo three\n', 2, 3],
  ['lines of which the last one does not', 'one\n\n  two\tthree', 3, 3],
  ['other letters', 'ein schöner Tag 🚢\n', 1, 4],
])('lines and words of a text are counted: %s', async (_, text, lines, words) => {
  const bytes = Buffer.from(text)
  expect(await look(bytes, 'text/plain')).toEqual({ kind: 'text', lines, words })
})
