import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  Frame,
  FRAME_DIRECTIONS,
  FRAME_TYPES,
  FrameToGuest,
  FrameToHost,
  ImageReference,
} from './frame.ts'

const sha = 'a'.repeat(64)
const PICTURE = { media_type: 'image/png', blob: `${sha}.png`, size: 1_048_576 }
const ENVELOPE = {
  v: 1,
  ts: '2026-01-31T12:00:00.000Z',
  session: { channel: 'telegram', id: 'default' },
  msg_id: 'tg-1-2',
  seq: 4,
}

function pictures(count: number): object[] {
  return Array.from({ length: count }, () => PICTURE)
}

function accepts(type: string, payload: object, others: object = {}): boolean {
  return Frame.safeParse({ ...ENVELOPE, type, payload, ...others }).success
}

describe('an image reference', () => {
  test.each([
    ['image/png', 'png'],
    ['image/jpeg', 'jpg'],
    ['image/gif', 'gif'],
    ['image/webp', 'webp'],
  ])('of %s names a blob that ends in %s [TI-047]', (media_type, extension) => {
    const reference = { media_type, blob: `${sha}.${extension}`, size: 1 }
    expect(ImageReference.parse(reference)).toEqual(reference)
    const other = extension === 'png' ? 'gif' : 'png'
    expect(ImageReference.safeParse({ ...reference, blob: `${sha}.${other}` }).success).toBe(false)
  })

  test.each(['media_type', 'blob', 'size'])('is refused without %s [TI-046]', (field) => {
    expect(ImageReference.safeParse({ ...PICTURE, [field]: undefined }).success).toBe(false)
  })

  test.each([
    `../${sha}.png`,
    `/workspace/.hawser/blobs/${sha}.png`,
    `${sha}.jpeg`,
    `${sha}.pdf`,
    `${sha}.png\n`,
    `${sha.toUpperCase()}.png`,
    `${sha.slice(1)}.png`,
  ])('is refused with the key %j [TI-048]', (blob) => {
    expect(ImageReference.safeParse({ ...PICTURE, blob }).success).toBe(false)
  })

  test.each([0, -1, 1.5, '1'])('is refused with the size %j [TI-049]', (size) => {
    expect(ImageReference.safeParse({ ...PICTURE, size }).success).toBe(false)
  })

  test.each(['data', 'url', 'uri'])(
    'is refused with a field %s [TI-001] [TI-008] [TI-051]',
    (field) => {
      expect(ImageReference.safeParse({ ...PICTURE, [field]: 'x' }).success).toBe(false)
    },
  )

  test('of another media type is refused [TI-047]', () => {
    expect(ImageReference.safeParse({ ...PICTURE, media_type: 'image/svg+xml' }).success).toBe(
      false,
    )
  })

  test('adds about two hundred bytes to a frame [TI-108]', () => {
    expect(JSON.stringify(PICTURE).length).toBeLessThan(200)
  })
})

describe('a user message', () => {
  test('may be text alone, and may name its sender [TI-053] [TI-056]', () => {
    expect(accepts('user.message', { text: 'hi' })).toBe(true)
    expect(accepts('user.message', { text: 'hi', user: { id: '1', name: 'Al' } })).toBe(true)
    expect(accepts('user.message', { text: 'hi', user: { name: 'Al' } })).toBe(false)
  })

  test('has text, which is empty only beside images [TI-055]', () => {
    expect(accepts('user.message', { images: [PICTURE] })).toBe(false)
    expect(accepts('user.message', { text: '', images: [PICTURE] })).toBe(true)
    expect(accepts('user.message', { text: '', images: [] })).toBe(false)
    expect(accepts('user.message', { text: '' })).toBe(false)
  })

  test('has at most four images, none with bytes in it [TI-008] [TI-036]', () => {
    const images = (count: number) => ({ text: 'hi', images: pictures(count) })
    expect(accepts('user.message', images(4))).toBe(true)
    expect(accepts('user.message', images(5))).toBe(false)
    expect(accepts('user.message', { text: 'hi', images: [{ ...PICTURE, data: 'AA' }] })).toBe(
      false,
    )
  })
})

describe('an answer', () => {
  test('may have images, in the same shape as messages [TI-057]', () => {
    const done = { text: 'here', status: 'completed' }
    expect(accepts('assistant.done', done)).toBe(true)
    expect(accepts('assistant.done', { ...done, images: [PICTURE] })).toBe(true)
    expect(accepts('assistant.done', { ...done, images: pictures(5) })).toBe(false)
    expect(accepts('assistant.done', { ...done, status: 'evaporated' })).toBe(false)
  })

  test('that is truncated names the blob of the complete answer', () => {
    const cut = { text: 'he', status: 'completed', truncated: true }
    expect(accepts('assistant.done', { ...cut, text_blob: `${sha}.txt` })).toBe(true)
    expect(accepts('assistant.done', { ...cut, text_blob: 'x' })).toBe(false)
  })

  test.each(['assistant.delta', 'reasoning.delta'])('in a %s has no images [TI-058]', (type) => {
    expect(accepts(type, { text: 'a' })).toBe(true)
    expect(accepts(type, { text: 'a', images: [PICTURE] })).toBe(false)
    expect(accepts(type, { text: 'a', images: [] })).toBe(false)
  })

  test('that is an error has a known kind', () => {
    const error = { kind: 'overloaded', message: 'busy', retryable: true }
    expect(accepts('error', error)).toBe(true)
    expect(accepts('error', { ...error, kind: 'tired' })).toBe(false)
  })
})

describe('the envelope of a frame', () => {
  test('is the same with and without images, and keeps unknown fields [TI-100]', () => {
    const frame = { ...ENVELOPE, type: 'user.message', later: 1 }
    for (const payload of [{ text: 'hi' }, { text: 'hi', images: [PICTURE] }]) {
      expect(Frame.parse({ ...frame, payload })).toEqual({ ...frame, payload })
    }
  })

  test.each(['control.cancel', 'control.ping', 'status.pong'])(
    'of %s has an empty payload',
    (type) => {
      expect(accepts(type, {})).toBe(true)
      expect(Frame.safeParse({ ...ENVELOPE, type }).success).toBe(false)
    },
  )

  test.each([
    { v: 2 },
    { type: 'assistant.thought' },
    { type: '__proto__' },
    { ts: 'yesterday' },
    { msg_id: '' },
    { seq: -1 },
    { seq: undefined },
    { in_reply_to: '' },
    { turn_id: 'trn_x' },
    { session: { channel: 'host' } },
    { session: { channel: '', id: 'default' } },
    { session: { channel: 'host', id: 'é'.repeat(65) } },
  ])('is refused with %o', (wrong) => {
    expect(accepts('control.ping', {}, wrong)).toBe(false)
  })

  test('accepts a channel and an id of up to 128 bytes', () => {
    const longest = 'é'.repeat(64)
    expect(accepts('control.ping', {}, { session: { channel: longest, id: longest } })).toBe(true)
  })

  test('determines the payload by its type', () => {
    type Presence = Extract<Frame, { type: 'status.presence' }>
    expectTypeOf<Presence['payload']>().toEqualTypeOf<{ readonly state: string }>()
  })
})

test('what a sender may write and what is stored are the same frames, in the same direction', () => {
  const typesOf = (options: readonly { shape: { type: { value: string } } }[]) =>
    options.map(({ shape }) => shape.type.value)
  const towards = (side: string) => FRAME_TYPES.filter((type) => FRAME_DIRECTIONS[type] === side)
  expect(typesOf(FrameToGuest.options)).toEqual(towards('guest'))
  expect(typesOf(FrameToHost.options)).toEqual(towards('host'))
})
