import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TINY_IMAGES } from '../../../test/support/resources/tiny-images.ts'
import { imageHeader } from './header.ts'
import { imageEnd } from './structure.ts'

const IMAGES = Object.entries(TINY_IMAGES)

function endOf(bytes: Buffer): number | undefined {
  const header = imageHeader(bytes)
  return header === undefined ? undefined : imageEnd(bytes, header.format)
}

test.each(IMAGES)('the end of a %s image is found, whatever follows it', (_, bytes) => {
  expect(endOf(bytes)).toBe(bytes.length)
  const more = [Buffer.alloc(1000), Buffer.alloc(1000, 0xff), Buffer.from('hello'), bytes]
  expect(more.map((tail) => endOf(Buffer.concat([bytes, tail])))).toEqual(
    more.map(() => bytes.length),
  )
})

test.each(IMAGES)('a truncated %s image has no end', (_, bytes) => {
  const ends = Array.from({ length: bytes.length }, (_unused, at) => endOf(bytes.subarray(0, at)))
  expect(ends.filter((end) => end !== undefined)).toEqual([])
})

test.each(IMAGES)('a %s image with any bytes changed has an end inside it or none', (_, bytes) => {
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255))
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const other = Buffer.from(bytes)
      for (const [at, byte] of changes) other[at] = byte
      const end = endOf(other)
      return end === undefined || (end > 0 && end <= other.length)
    }),
    { seed: 1, numRuns: 300 },
  )
})

test('an image without pixels is incomplete', () => {
  const { png, jpeg, gif, webp } = TINY_IMAGES
  const end = png.subarray(-12)
  const chunk = Buffer.from('EXIF\x02\0\0\0ab')
  const other = Buffer.concat([webp.subarray(0, 12), chunk])
  other.writeUInt32LE(other.length - 8, 4)
  expect([
    imageEnd(Buffer.concat([png.subarray(0, 33), end]), 'png'),
    imageEnd(Buffer.concat([jpeg.subarray(0, 2), jpeg.subarray(-2)]), 'jpeg'),
    imageEnd(Buffer.concat([gif.subarray(0, 13 + 24), gif.subarray(-1)]), 'gif'),
    imageEnd(other, 'webp'),
  ]).toEqual([undefined, undefined, undefined, undefined])
})

test('a comment in a JPEG may contain anything, even end markers', () => {
  const { jpeg } = TINY_IMAGES
  const comment = Buffer.from([0xff, 0xfe, 0x00, 0x06, 0xff, 0xd9, 0xff, 0xd9])
  const bytes = Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)])
  expect(endOf(bytes)).toBe(bytes.length)
})
