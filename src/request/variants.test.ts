import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace } from '../../test/support/log/log-place.ts'
import { value } from '../../test/support/log/story.ts'
import type { BlobPart } from '../model/conversation.ts'
import { failed, ok } from '../model/errors.ts'
import { ResourceId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { VariantMaker } from '../resources/variants/variant-maker.ts'
import { projectedIn } from './projected.ts'
import { Variants, type NoForm, type VariantWork } from './variants.ts'

const CAPS = { max_side: 100, max_base64_bytes: 400 }

/** Creates variants and counts them. */
function countingMaker() {
  let made = 0
  const maker: VariantMaker = {
    image: async (_bytes, wish) => {
      made += 1
      const how = { encoder: 'test', format: 'jpeg', width: 10, height: 5, ...wish }
      return ok({ bytes: Buffer.from('small'), media_type: 'image/jpeg', params: how })
    },
    pdfText: async () => failed('unreadable', 'It cannot be read.'),
  }
  return { maker, params: () => made }
}

function working(maker: VariantMaker): VariantWork {
  return { maker, signal: new AbortController().signal, clock: immediateClock }
}

/** The variant; fails if there is none. */
function formOf(form: BlobPart | NoForm): BlobPart {
  if (typeof form === 'string') throw new Error(form)
  return form
}

async function imagePart() {
  const { store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const bytes = Buffer.from('a large image')
  const blob = value(await store.put([bytes], 'image/png'))
  const part: BlobPart = {
    type: 'blob',
    blob,
    media_type: 'image/png',
    resource: ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z11'),
    handle: '@img1',
    width: 4000,
    height: 2000,
    lifetime: 'turn',
    bytes,
  }
  return { store, part }
}

test('[SR-028] a smaller variant is stored beside the original, and the request names it and how it was created', async () => {
  const { store, part } = await imagePart()
  const { maker } = countingMaker()
  const form = formOf(await new Variants(store, working(maker)).smaller(part, CAPS))
  const of = part.blob.slice(0, 64)
  expect(form).toMatchObject({
    media_type: 'image/jpeg',
    handle: '@img1',
    width: 10,
    height: 5,
    bytes: Buffer.from('small'),
    variant: { of, params: { encoder: 'test', format: 'jpeg', of, ...CAPS } },
  })
  expect(value(await store.get(part.blob))).toEqual(part.bytes)
  const projected = projectedIn([{ kind: 'user', seq: 0, parts: [form] }])
  expect(projected).toMatchObject([{ content_sha256: of, variant: form.blob, bytes: 5 }])
})

test('a recorded variant is reused, even if none can be created, and no other is created', async () => {
  const { store, part } = await imagePart()
  const { maker, params: made } = countingMaker()
  const first = formOf(await new Variants(store, working(maker)).smaller(part, CAPS))
  const projected = projectedIn([{ kind: 'user', seq: 0, parts: [first] }])
  const recomposed = new Variants(store, undefined)
  recomposed.learn(projected)
  expect(await recomposed.smaller(part, CAPS)).toEqual(first)
  expect(await recomposed.smaller(part, { max_side: 50 })).toBe('none')
  expect(made()).toBe(1)
})

test('a variant that cannot be created is tried once, and the reason is reported once', async () => {
  const { store, part } = await imagePart()
  const { maker } = countingMaker()
  const variants = new Variants(store, working(maker))
  expect(await variants.words(part)).toBe('none')
  expect(await variants.words(part)).toBe('none')
  expect(variants.failures).toEqual(['@img1 could not be made to fit: It cannot be read.'])
})

test('a recorded variant whose bytes are lost is created again if the result is the same, and otherwise reported as lost', async () => {
  const { store, part } = await imagePart()
  const { maker } = countingMaker()
  const first = formOf(await new Variants(store, working(maker)).smaller(part, CAPS))
  const projected = projectedIn([{ kind: 'user', seq: 0, parts: [first] }])
  value(await store.delete(first.blob))
  const without = new Variants(store, undefined)
  without.learn(projected)
  expect(await without.smaller(part, CAPS)).toBe('gone')
  const again = new Variants(store, working(maker))
  again.learn(projected)
  expect(formOf(await again.smaller(part, CAPS)).blob).toBe(first.blob)
  value(await store.delete(first.blob))
  const other: VariantMaker = {
    ...maker,
    image: async (bytes, wish) => {
      const made = value(await maker.image(bytes, wish))
      return ok({ ...made, bytes: Buffer.from('another') })
    },
  }
  const changed = new Variants(store, working(other))
  changed.learn(projected)
  expect(await changed.smaller(part, CAPS)).toBe('gone')
})

test('an interrupt does not wait for a variant', async () => {
  const { store, part } = await imagePart()
  const stop = new AbortController()
  const maker: VariantMaker = {
    image: () => {
      stop.abort()
      return new Promise(() => {})
    },
    pdfText: async () => failed('unreadable', ''),
  }
  const work = { maker, signal: stop.signal, clock: immediateClock }
  expect(await new Variants(store, work).smaller(part, CAPS)).toBe('none')
})

test('the time limit applies only to creating variants, however long the Turn lasts', async () => {
  const { store, part } = await imagePart()
  let now = 0
  const clock = { now: () => 0, monotonicMs: () => now, after: () => () => {} }
  const { maker } = countingMaker()
  const slow: VariantMaker = {
    ...maker,
    image: async (bytes, wish) => {
      now += LIMITS.turn_attachment_ms
      return maker.image(bytes, wish)
    },
  }
  const variants = new Variants(store, { ...working(slow), clock })
  now += 60 * LIMITS.turn_attachment_ms
  formOf(await variants.smaller(part, CAPS))
  expect(await variants.smaller(part, { max_side: 50 })).toBe('none')
  expect(variants.failures).toHaveLength(1)
})
