import { expect, test } from 'vitest'
import {
  canDrawAll,
  DRAWN_FORMATS,
  drawing,
  encodeDrawing,
  png,
} from '../../../test/support/resources/drawing.ts'
import { random } from '../../../test/support/host/random.ts'
import { systemClock } from '../../host/clock.ts'
import type { Result } from '../../model/errors.ts'
import { describe as look } from '../describe.ts'
import { imageHeader } from '../image/header.ts'
import { loadImageLibrary, type ImageLibrary } from '../image/library.ts'
import { imageVariant, imageVariants } from './image-variant.ts'
import type { ImageForm, Variant } from './variant.ts'

const SEEDS = Array.from({ length: 6 }, (_, seed) => seed)

test('without the image library nothing is created, and the error names what to install', async () => {
  const without = imageVariants({ load: () => Promise.resolve(undefined), clock: systemClock })
  const { width, height, pixels } = drawing(1)
  expect(await without(png(width, height, pixels), { max_side: 20 })).toMatchObject({
    ok: false,
    error: {
      kind: 'unsupported_type',
      details: { reason: 'no_image_library' },
      next_actions: [{ command: 'npm install sharp' }],
    },
  })
})

test.skipIf(!canDrawAll).each(DRAWN_FORMATS)(
  'a smaller %s image shows the same as the large one',
  async (format) => {
    for (const seed of SEEDS) {
      const { width, height, ...picture } = drawing(seed)
      const original = await encodeDrawing({ width, height, ...picture }, format)
      const variant = await made(original, { max_side: 150 })
      expect(Math.max(variant.width ?? 0, variant.height ?? 0)).toBe(150)
      const [description, expected] = [
        await descriptionOf(variant),
        await look(original, `image/${format}`),
      ]
      expect(description).toMatchObject({ width: variant.width, height: variant.height })
      expect(description).toHaveProperty('regions', 'regions' in expected && expected.regions)
    }
  },
)

test.skipIf(!canDrawAll)('twelve megapixels become an image of 1568 pixels', async () => {
  const original = await (await plain(4000, 3000, '#f5821e')).jpeg().toBuffer()
  const variant = await made(original, { max_side: 1568 })
  const size = { width: 1568, height: 1176 }
  const { versions } = await library()
  expect(variant).toEqual({
    bytes: expect.any(Buffer),
    media_type: 'image/jpeg',
    ...size,
    params: {
      encoder: `sharp ${versions.sharp}`,
      format: 'jpeg',
      quality: 90,
      ...size,
      max_side: 1568,
    },
  })
  const colours = [{ name: 'orange', share: 1 }]
  expect(await descriptionOf(variant)).toMatchObject({ format: 'jpeg', ...size, colours })
})

test.skipIf(!canDrawAll).each(DRAWN_FORMATS)(
  'a region of a %s image shows its part',
  async (format) => {
    for (const seed of SEEDS) {
      const { width, height, fields, ...picture } = drawing(seed)
      const original = await encodeDrawing({ width, height, fields, ...picture }, format)
      for (const [at, name] of fields.entries()) {
        const region = fieldOf(at, { width, height })
        const variant = await made(original, { region })
        expect(variant.params).toMatchObject({ width: region.width, height: region.height, region })
        expect(await descriptionOf(variant)).toMatchObject({ colours: [{ name, share: 1 }] })
      }
    }
  },
)

test.skipIf(!canDrawAll)(
  'the orientation of an image is applied in its header, its variants and its regions',
  async () => {
    const { pixels, width, height, fields } = drawing(2)
    const raw = (await library())(pixels, { raw: { width, height, channels: 3 } })
    // Rotated by 90 degrees clockwise: its left column becomes the top row.
    const original = await raw.withMetadata({ orientation: 6 }).png().toBuffer()
    const upright = await made(original, {})
    expect(upright).toMatchObject({ width: height, height: width })
    expect(imageHeader(original)?.size).toEqual({ width: height, height: width })
    const [topLeft, , topRight, , centre, , bottomLeft, , bottomRight] = fields
    expect(await descriptionOf(upright)).toMatchObject({
      regions: [bottomLeft, topLeft, centre, bottomRight, topRight].map((colour) => ({ colour })),
    })
    const turned = [6, 3, 0, 7, 4, 1, 8, 5, 2]
    for (const [at, stored] of turned.entries()) {
      const region = fieldOf(at, { width: height, height: width })
      const part = await made(original, { region })
      expect(part).toMatchObject({ width: region.width, height: region.height })
      expect(await descriptionOf(part)).toMatchObject({
        colours: [{ name: fields[stored], share: 1 }],
      })
    }
  },
)

test.skipIf(!canDrawAll).each(['jpeg', 'png', 'webp'] as const)(
  'the size of a %s image is that after its orientation is applied',
  async (format) => {
    const { pixels, width, height } = drawing(2)
    const sharp = await library()
    for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const raw = sharp(pixels, { raw: { width, height, channels: 3 } })
      const bytes = await raw.withMetadata({ orientation })[format]().toBuffer()
      const { width: across, height: down } = await made(bytes, {})
      expect([orientation, imageHeader(bytes)?.size]).toEqual([
        orientation,
        { width: across, height: down },
      ])
    }
  },
)

test
  .skipIf(!canDrawAll)
  .each([
    [{ x: 0, y: 0, width: 41, height: 30 }],
    [{ x: 1, y: 0, width: 40, height: 30 }],
    [{ x: 0, y: 30, width: 1, height: 1 }],
    [{ x: -1, y: 0, width: 10, height: 10 }],
    [{ x: 0, y: 0, width: 0, height: 10 }],
    [{ x: 0.5, y: 0, width: 10, height: 10 }],
  ])('a region outside an image of 40 by 30 pixels is refused: %o', async (region) => {
  expect(await imageVariant(png(40, 30, Buffer.alloc(3600)), { region })).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', details: { width: 40, height: 30 } },
  })
})

test.skipIf(!canDrawAll)('an image fits into a size and is never enlarged', async () => {
  const original = png(40, 30, Buffer.alloc(3600))
  const cases: [ImageForm, number, number][] = [
    [{}, 40, 30],
    [{ max_side: 40 }, 40, 30],
    [{ max_side: 39 }, 39, 29],
    [{ max_side: 1 }, 1, 1],
    [{ size: { width: 400, height: 300 } }, 40, 30],
    [{ size: { width: 400, height: 15 } }, 20, 15],
    [{ size: { width: 400, height: 15 }, max_side: 10 }, 10, 8],
    [{ size: { width: 5, height: 300 }, region: { x: 0, y: 0, width: 10, height: 20 } }, 5, 10],
  ]
  for (const [wish, width, height] of cases)
    expect(await made(original, wish)).toMatchObject({ width, height })
})

test.skipIf(!canDrawAll)(
  'a lossless image stays lossless up to the last byte that fits',
  async () => {
    const original = png(120, 90, random(1).bytes(120 * 90 * 3))
    const { bytes } = await made(original, {})
    const length = bytes.toString('base64').length
    const fits = await made(original, { max_base64_bytes: length })
    expect(fits.params.format).toBe('png')
    expect(fits.bytes.equals(bytes)).toBe(true)
    const smaller = await made(original, { max_base64_bytes: length - 1 })
    expect(smaller.params).toMatchObject({ format: 'jpeg', quality: 90, width: 120 })
    expect(smaller.bytes.toString('base64').length).toBeLessThan(length)
  },
)

test.skipIf(!canDrawAll)('first the quality is reduced, then the size, until it fits', async () => {
  const original = png(240, 180, random(2).bytes(240 * 180 * 3))
  let max_base64_bytes = (await made(original, {})).bytes.toString('base64').length
  const steps = new Set<string>()
  let width = 240
  while (max_base64_bytes > 2000) {
    max_base64_bytes = Math.floor(max_base64_bytes * 0.8)
    const variant = await made(original, { max_base64_bytes })
    expect(variant.bytes.toString('base64').length).toBeLessThanOrEqual(max_base64_bytes)
    expect(variant.width).toBeLessThanOrEqual(width)
    width = variant.width ?? 0
    steps.add(`${variant.params.quality} ${width === 240 ? 'whole' : 'smaller'}`)
  }
  expect([...steps]).toEqual(['90 whole', '75 whole', '60 whole', '60 smaller'])
})

test.skipIf(!canDrawAll)('an image that cannot be that small is refused', async () => {
  const original = png(120, 90, random(3).bytes(120 * 90 * 3))
  expect(await imageVariant(original, { max_base64_bytes: 80 })).toMatchObject({
    ok: false,
    error: { kind: 'too_large', details: { limit: 80 } },
  })
})

test.skipIf(!canDrawAll)('transparency is kept, even with lossy compression', async () => {
  const original = await translucent(0)
  const whole = await made(original, {})
  expect(whole.params.format).toBe('png')
  const lossy = await made(original, { max_base64_bytes: whole.bytes.length })
  expect(lossy.params.format).toBe('webp')
  for (const { bytes } of [whole, lossy]) {
    const alpha = (await library())(bytes).extractChannel('alpha')
    const { data, info } = await alpha.raw().toBuffer({ resolveWithObject: true })
    expect([data[0], data[info.width - 1]]).toEqual([0, 255])
  }
})

test.skipIf(!canDrawAll)('an image with an unused alpha channel becomes JPEG', async () => {
  const original = await translucent(255)
  const { bytes } = await made(original, {})
  const lossy = await made(original, { max_base64_bytes: bytes.length })
  expect(lossy.params.format).toBe('jpeg')
})

test.skipIf(!canDrawAll)('only pixels are kept, no metadata', async () => {
  const sharp = await library()
  const place = { IFD0: { Copyright: 'nobody' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } }
  const cases = [
    ['jpeg', (await plain(50, 40, 'red')).jpeg()],
    ['jpeg', (await plain(50, 40, 'red')).webp()],
    ['png', (await plain(50, 40, 'red')).png()],
    ['png', sharp(await translucent(0)).webp({ lossless: true })],
  ] as const
  for (const [format, image] of cases) {
    const original = await image.withExif(place).withIccProfile('p3').toBuffer()
    const before = await sharp(original).metadata()
    expect([before.exif, before.icc]).toEqual([expect.any(Buffer), expect.any(Buffer)])
    const variant = await made(original, {})
    expect(variant.params.format).toBe(format)
    const { exif, icc, xmp, iptc } = await sharp(variant.bytes).metadata()
    expect({ exif, icc, xmp, iptc }).toEqual({})
  }
})

test.skipIf(!canDrawAll)('an animated image is shown by its first frame', async () => {
  const frames = [
    await (await plain(50, 40, 'red')).png().toBuffer(),
    await (await plain(50, 40, 'blue')).png().toBuffer(),
  ]
  const moving = (await library())(frames, { join: { animated: true } })
  const cases = [
    ['png', await moving.clone().gif().toBuffer()],
    ['jpeg', await moving.clone().webp().toBuffer()],
  ] as const
  for (const [format, original] of cases) {
    const variant = await made(original, { max_side: 25 })
    expect(variant).toMatchObject({ width: 25, height: 20, params: { format } })
    expect(await descriptionOf(variant)).toMatchObject({ colours: [{ name: 'red', share: 1 }] })
  }
})

test.skipIf(!canDrawAll).each(DRAWN_FORMATS)(
  'the same %s image and request give the same bytes',
  async (format) => {
    const { width, height } = drawing(4)
    const original = await encodeDrawing(drawing(4), format)
    const wishes: ImageForm[] = [
      {},
      { max_side: 33 },
      { region: { x: 3, y: 5, width: width - 9, height: height - 8 }, max_base64_bytes: 900 },
      { size: { width: 50, height: 20 }, max_base64_bytes: 700 },
    ]
    for (const wish of wishes) {
      const first = await made(original, wish)
      expect(await made(Buffer.from(original), { ...wish })).toEqual(first)
    }
  },
)

test.skipIf(!canDrawAll).each(DRAWN_FORMATS)('a damaged %s image is refused', async (format) => {
  const file = await encodeDrawing(drawing(5), format)
  const corrupt = { ok: false, error: { kind: 'unreadable', details: { code: 'corrupt' } } }
  for (const part of [0, 0.02, 0.5, 0.8]) {
    const cut = file.subarray(0, Math.ceil(file.length * part))
    expect(await imageVariant(cut, { max_side: 20 })).toMatchObject(corrupt)
  }
})

test.skipIf(!canDrawAll)('more pixels than the limit are not decoded', async () => {
  const rows = Buffer.alloc(30_000 * 3 * 2)
  for (const file of [png(30_000, 30_000, rows), png(30_000, 2, rows)]) {
    const details = { code: 'too_many_pixels' }
    expect(await imageVariant(file, {})).toMatchObject({ error: { kind: 'unreadable', details } })
  }
})

test.skipIf(!canDrawAll)(
  'the longest side of an image is limited to what every format supports',
  async () => {
    const original = png(16_384, 1, random(6).bytes(16_384 * 3))
    const { bytes, width } = await made(original, {})
    expect(width).toBe(16_383)
    const lossy = await made(original, { max_base64_bytes: bytes.length })
    expect(lossy.params.format).toBe('jpeg')
  },
)

test.skipIf(!canDrawAll)('an image with a byte limit has at most sixteen megapixels', async () => {
  const original = await (await plain(8000, 4000, 'red')).png().toBuffer()
  const max_base64_bytes = original.length * 2
  expect(await made(original, { max_base64_bytes })).toMatchObject({ width: 5656, height: 2828 })
  const region = { x: 0, y: 0, width: 8000, height: 2000 }
  expect(await made(original, { max_base64_bytes, region })).toMatchObject({
    width: 8000,
    height: 2000,
  })
})

test.skipIf(!canDrawAll)('a slow conversion stops at the time limit', async () => {
  let now = 0
  const clock = { ...systemClock, monotonicMs: () => (now += 20_000) }
  const slow = imageVariants({ load: loadImageLibrary, clock })
  const original = png(40, 30, random(7).bytes(3600))
  expect(await slow(original, { max_base64_bytes: 100 })).toMatchObject({
    ok: false,
    error: { kind: 'timeout' },
  })
})

async function made(bytes: Buffer, wish: ImageForm): Promise<Variant> {
  const result: Result<Variant> = await imageVariant(bytes, wish)
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

function descriptionOf({ bytes, media_type }: Variant) {
  return look(bytes, media_type)
}

async function library(): Promise<ImageLibrary> {
  const sharp = await loadImageLibrary()
  if (sharp === undefined) throw new Error('sharp is not installed')
  return sharp
}

async function plain(width: number, height: number, background: string) {
  return (await library())({ create: { width, height, channels: 3, background } })
}

/** Noise whose left half has the given opacity. */
async function translucent(opacity: number): Promise<Buffer> {
  const [width, height] = [80, 60]
  const pixels = random(8).bytes(width * height * 4)
  for (let pixel = 0; pixel < width * height; pixel += 1)
    pixels[pixel * 4 + 3] = pixel % width < width / 2 ? opacity : 255
  return (await library())(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}

/** A point well inside one of the nine fields of a drawing, because colours mix at the edges. */
function fieldOf(at: number, { width, height }: { width: number; height: number }) {
  const [column, row] = [at % 3, Math.floor(at / 3)]
  const x = Math.ceil((column * width) / 3) + 2
  const y = Math.ceil((row * height) / 3) + 2
  return { x, y, width: Math.floor(width / 3) - 5, height: Math.floor(height / 3) - 5 }
}
