import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { wellFormedJson } from '../encoding/json.ts'
import type { BlobPart, Part } from '../model/conversation.ts'
import { BlobKey } from '../model/ids.ts'
import type { Segment } from '../model/segment.ts'
import {
  BASE64,
  hasWords,
  isBlank,
  put,
  embedPartText,
  block,
  placeSegments,
  type EmbeddedFile,
  embedBase64,
  partText,
} from './segment-bytes.ts'

/** A separate segment. */
function segment(content: string | EmbeddedFile, seq?: number): Segment {
  const [only = expect.fail('nothing was made')] = placeSegments(
    [block('user', content, seq)],
    undefined,
    () => '[',
  )
  return only
}

/** A segment as an object that compares all of it. */
function plain({ role, bracket, bytes, length, seq, lifetime }: Segment) {
  return { role, bracket, bytes, length, seq, lifetime }
}

test('segments of text take little more memory than their bytes', () => {
  const texts = Array.from({ length: 2_000 }, (_, at) => 'aé😀'.repeat((at * 7919) % 900))
  const segments = texts.map((text) => segment(text))
  expect(segments.map(({ bytes }) => bytes.toString('utf8'))).toEqual(texts)
  const buffers = new Set(segments.map(({ bytes }) => bytes.buffer))
  const taken = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
  const needed = segments.reduce((sum, { length }) => sum + length, 0)
  expect(taken / needed).toBeLessThan(1.15)
  expect(buffers.size).toBeLessThan(segments.length)
})

const json = (data: string) => wellFormedJson({ title: 'é', data, more: BASE64 })

test('a segment with a file has the same bytes as JSON with its base64', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (array) => {
      const file = Buffer.from(array)
      const shown = segment(embedBase64(file, json(BASE64)), 3)
      const expected = segment(json(file.toString('base64')), 3)
      expect(plain(shown)).toEqual(plain(expected))
    }),
  )
})

test.each([0, 1, 2, 3, 100_000])(
  'a file of %i bytes is written without changing the bytes around it',
  (size) => {
    const shown = segment(embedBase64(randomBytes(size), json(BASE64)))
    const body = Buffer.alloc(shown.length + 2, '.')
    expect(put(shown, body, 1)).toBe(body.length - 1)
    expect(body.toString()).toBe(`.${shown.bytes.toString()}.`)
  },
)

/** Longer than what is converted to a string at once. */
const LONG = 'The "tide"\tturns\\ at six.\n\u0001é€😀'.repeat(3000)

function textPart(bytes: Buffer, handle?: string): BlobPart {
  const named = handle === undefined ? {} : { handle }
  const blob = BlobKey.parse(`${'a'.repeat(64)}.txt`)
  return { type: 'blob', blob, media_type: 'text/plain', ...named, lifetime: 'turn', bytes }
}

const ends = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  // Most of them are not UTF-8.
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
)

test.each([undefined, '@txt1'])(
  'a long text has the same bytes as in JSON, even if it is not UTF-8, under the name %s',
  (handle) => {
    fc.assert(
      fc.property(ends, ends, (start, end) => {
        const part = textPart(Buffer.concat([start, Buffer.from(LONG), end]), handle)
        const shown = segment(embedPartText(part, json), 3)
        const expected = segment(json(partText(part)), 3)
        expect(shown.length).toBe(expected.length)
        expect(shown.bytes.equals(expected.bytes)).toBe(true)
        const body = Buffer.alloc(shown.length + 2, '.')
        expect(put(shown, body, 1)).toBe(body.length - 1)
        expect(body.subarray(1, -1).equals(expected.bytes)).toBe(true)
        expect([body.at(0), body.at(-1)]).toEqual([0x2e, 0x2e])
      }),
      { numRuns: 25 },
    )
  },
)

const { bytes: _, ...lost } = textPart(Buffer.alloc(0))

test.each<[string, Part]>([
  ['blank', textPart(Buffer.from(' \u00a0\n'.repeat(40_000)))],
  ['blank under a name', textPart(Buffer.from(' \n'), '@txt1')],
  ['nothing', textPart(Buffer.alloc(0))],
  ['words', textPart(Buffer.from(`${' '.repeat(100_000)}words`))],
  ['not UTF-8', textPart(Buffer.from([0x20, 0xe2, 0x80]))],
  ['lost', lost],
  ['not text', { ...textPart(Buffer.from(' ')), media_type: 'application/pdf' }],
  ['a text part', { type: 'text', text: ' \n', lifetime: 'stable' }],
])('a part is blank exactly if its text is: %s', (_name, part) => {
  expect(isBlank(part)).toBe(!hasWords(partText(part)))
})
