import { expect, test } from 'vitest'
import type { ImageDescription, Description } from '../../src/model/description.ts'
import type { Media } from './dialect.ts'
import { refusedMedia, rememberedDescriptions } from './media-check.ts'

function image(width: number, height = 1): ImageDescription {
  return { kind: 'image', format: 'png', width, height, colours: [], regions: [], decoded: true }
}

/** Media whose bytes are their own description, as JSON. */
const seen = async (bytes: Buffer) => JSON.parse(bytes.toString()) as Description

function media(media_type: string, ...descriptions: readonly Description[]): Media[] {
  return descriptions.map((description, index) => ({
    at: ['input', index],
    media_type,
    bytes: Buffer.from(JSON.stringify(description)),
  }))
}

const FACTS = { image_count: 2, image_side_pixels: 8000 }

test('readable media within the limits are accepted', async () => {
  const all = [
    ...media('image/png', image(8000), image(10, 8000)),
    ...media('application/pdf', { kind: 'pdf', pages: 1, words: 1 }),
    ...media('text/csv', { kind: 'text', lines: 1, words: 1 }),
  ]
  expect(await refusedMedia(all, FACTS, seen)).toBeUndefined()
  expect(await refusedMedia(media('image/png', image(99_999)), {}, seen)).toBeUndefined()
})

test('the first unreadable or too large item is refused with its position', async () => {
  const broken: Description = { kind: 'unreadable', code: 'corrupt', why: 'it is cut off' }
  expect(await refusedMedia(media('image/png', image(1), broken), FACTS, seen)).toMatchObject({
    status: 400,
    at: ['input', 1],
    code: 'image_parse_error',
  })
  expect(await refusedMedia(media('application/pdf', broken), FACTS, seen)).toMatchObject({
    at: ['input', 0],
    code: 'invalid_file',
  })
  expect(await refusedMedia(media('image/png', image(1, 8001)), FACTS, seen)).toMatchObject({
    at: ['input', 0],
    code: 'image_too_large',
  })
})

test('with many images, the limit for each is lower', async () => {
  const few = media('image/png', image(2001), image(1))
  const many = media('image/png', image(2000), image(1), image(2001))
  expect(await refusedMedia(few, FACTS, seen)).toBeUndefined()
  expect(await refusedMedia(many, FACTS, seen)).toMatchObject({
    at: ['input', 2],
    code: 'image_too_large',
  })
})

test('the same bytes are described once, and the number of remembered descriptions is limited', async () => {
  let looks = 0
  const describe = rememberedDescriptions(async (bytes) => {
    looks += 1
    return { kind: 'text', lines: bytes.length, words: 1 }
  })
  const look = (index: number) => describe(Buffer.from(`${index}`), 'text/plain')
  expect(await Promise.all([look(1), look(1), look(1)])).toHaveLength(3)
  expect(looks).toBe(1)
  await describe(Buffer.from('1'), 'text/csv')
  expect(looks).toBe(2)
  for (let index = 2; index < 300; index += 1) await look(index)
  await look(299)
  expect(looks).toBe(300)
  await look(1)
  expect(looks).toBe(301)
})
