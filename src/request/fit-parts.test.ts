import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace } from '../../test/support/log/log-place.ts'
import { lost } from '../prompt/words/resources.ts'
import type { BlobPart, ConversationItem } from '../model/conversation.ts'
import { BlobKey, ResourceId } from '../model/ids.ts'
import type { SurfaceParams } from '../model/surface.ts'
import { Fitting } from './fit-parts.ts'
import { Variants } from './variants.ts'

const PARAMS: SurfaceParams = {
  replay: 'attach-turn',
  late_role: 'user',
  tool_choice: 'auto',
  limits: {},
}

function image(n: number, bytes = 3_000, more: Partial<BlobPart> = {}): BlobPart {
  return {
    type: 'blob',
    blob: BlobKey.parse(`${String(n).padStart(64, '0')}.png`),
    media_type: 'image/png',
    resource: ResourceId.parse(`res_01kg8m2q3r4s5t6v7w8x9y0z1${n}`),
    handle: `@img${n}`,
    lifetime: 'turn',
    bytes: Buffer.alloc(bytes),
    ...more,
  }
}

function user(...parts: BlobPart[]): ConversationItem {
  return { kind: 'user', seq: 4, parts }
}

/** The handles that are still shown, and the sentences that replace the others. */
async function shown(
  params: Partial<SurfaceParams>,
  ...items: ConversationItem[]
): Promise<string[]> {
  const { store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const fitting = new Fitting({ ...PARAMS, ...params }, new Variants(store, undefined))
  const fitted: ConversationItem[] = []
  for (const item of items) fitted.push(...(await fitting.fit([item])))
  const parts = fitted.flatMap((one) => ('parts' in one ? one.parts : []))
  const sentences = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const named = fitting.losses.map(({ handle, ...loss }) => lost(handle, loss))
  expect(named).toEqual(sentences)
  expect(parts.every(({ lifetime }) => lifetime === 'turn')).toBe(true)
  return parts.map((part) => (part.type === 'text' ? part.text : (part.handle ?? '')))
}

test('an unknown limit refuses nothing', async () => {
  expect(await shown({}, user(image(1), image(2, 9_000_000)))).toEqual(['@img1', '@img2'])
})

test('an image over a limit is replaced by a sentence, and the others are sent', async () => {
  const limits = { image_base64_bytes: 4_000, image_side_pixels: 100 }
  const wide = image(3, 30, { width: 101, height: 2 })
  expect(await shown({ limits }, user(image(1), image(2, 3_001), wide))).toEqual([
    '@img1',
    '[@img2 is not shown: it has 4004 bytes in base64; the model of this Turn accepts at most 4000]',
    '[@img3 is not shown: its longer side has 101 pixels; the model of this Turn accepts at most 100]',
  ])
})

test('images are counted over the whole request, in order', async () => {
  const limits = { image_count: 2 }
  expect(await shown({ limits }, user(image(1)), user(image(2), image(3)))).toEqual([
    '@img1',
    '@img2',
    '[@img3 is not shown: the model of this Turn accepts at most 2 images in a request]',
  ])
})

test('a part that would exceed the request size is replaced by a sentence, and a smaller one after it still fits', async () => {
  const limits = { request_bytes: 9_000 }
  expect(await shown({ limits }, user(image(1), image(2, 6_000), image(3)))).toEqual([
    '@img1',
    '[@img2 is not shown: with it, the request would exceed 9000 bytes, the limit of the model of this Turn]',
    '@img3',
  ])
})

test('a model that does not accept images or files gets a sentence instead', async () => {
  const pdf = image(2, 30, { media_type: 'application/pdf', handle: '@pdf2' })
  expect(await shown({ images: false, files: false }, user(image(1), pdf))).toEqual([
    '[@img1 is not shown: the model of this Turn does not accept images]',
    '[@pdf2 is not shown: the model of this Turn does not accept PDF files]',
  ])
})
