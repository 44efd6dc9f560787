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
  placed,
  type EmbeddedFile,
  embedBase64,
  partText,
} from './segment-bytes.ts'

/** A segment of its own. */
function segment(content: string | EmbeddedFile, seq?: number): Segment {
  const [only = expect.fail('nothing was made')] = placed(
    [block('user', content, seq)],
    undefined,
    () => '[',
  )
  return only
}

const json = (data: string) => wellFormedJson({ title: 'é', data, more: BASE64 })

test('JSON with an embedded file has the bytes of JSON with its base64', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (array) => {
      const file = Buffer.from(array)
      const shown = segment(embedBase64(file, json(BASE64)), 3)
      const expected = segment(json(file.toString('base64')), 3)
      expect(shown).toEqual(expected)
    }),
  )
})

test.each([0, 1, 2, 3, 100_000])(
  'a file of %i bytes is written between the JSON around it',
  (size) => {
    const shown = segment(embedBase64(randomBytes(size), json(BASE64)))
    const body = Buffer.alloc(shown.length + 2, '.')
    expect(put(shown, body, 1)).toBe(body.length - 1)
    expect(body.toString()).toBe(`.${shown.bytes.toString()}.`)
  },
)

/** Longer than the text that is converted at once. */
const LONG = 'The "tide"\tturns\\ at six.\n\u0001é€😀'.repeat(3000)

function textPart(bytes: Buffer, handle?: string): BlobPart {
  const named = handle === undefined ? {} : { handle }
  const blob = BlobKey.parse(`${'a'.repeat(64)}.txt`)
  return { type: 'blob', blob, media_type: 'text/plain', ...named, lifetime: 'turn', bytes }
}

const ends = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  // Most of which are not UTF-8.
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
)

test.each([undefined, '@txt1'])(
  'a long text has the bytes of JSON, even if it is not UTF-8, under the name %s',
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
  ['no UTF-8', textPart(Buffer.from([0x20, 0xe2, 0x80]))],
  ['lost', lost],
  ['no text', { ...textPart(Buffer.from(' ')), media_type: 'application/pdf' }],
  ['said', { type: 'text', text: ' \n', lifetime: 'stable' }],
])('a part is blank if and only if its text is: %s', (_name, part) => {
  expect(isBlank(part)).toBe(!hasWords(partText(part)))
})
