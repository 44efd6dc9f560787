import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasWordsIn, jsonTextLength, writeJsonText } from './json-text.ts'

/** As in JSON, with surrounding bytes that must not change. */
function written(text: Buffer): string {
  const room = Buffer.alloc(jsonTextLength(text) + 2, '.')
  expect(writeJsonText(text, room, 1)).toBe(room.length - 1)
  return room.toString('utf8')
}

function inJson(text: string): string {
  return `.${JSON.stringify(text).slice(1, -1)}.`
}

test('text has the bytes that JSON gives it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(written(Buffer.from(text))).toBe(inJson(text))
    }),
  )
})

test('characters of one, two, three and four bytes are written as in JSON', () => {
  const short = Array.from({ length: 0x800 }, (_none, point) => point)
  const long = [0x800, 0x2028, 0x2029, 0xd7ff, 0xe000, 0xfeff, 0xffff, 0x1_0000, 0x10_ffff]
  const all = String.fromCodePoint(...short, ...long)
  expect(written(Buffer.from(all))).toBe(inJson(all))
})

const SPACES = '\t\n\v\f\r \u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'

test.each([
  ['', false],
  [SPACES, false],
  [`${SPACES}.`, true],
  ['\u200b', true],
  ['\0', true],
])('%j has words: %s', (text, has) => {
  expect(hasWordsIn(Buffer.from(text))).toBe(has)
})

test('a text has words if and only if it contains more than white space', () => {
  const piece = fc.oneof(
    fc.constantFrom(...SPACES.split('')).map((space) => Buffer.from(space)),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
  )
  fc.assert(
    // Long enough that a piece ends before, after or inside one of them.
    fc.property(fc.integer({ min: 4090, max: 4100 }), fc.array(piece), (blanks, pieces) => {
      const text = Buffer.concat([Buffer.alloc(blanks, ' '), ...pieces])
      expect(hasWordsIn(text)).toBe(text.toString('utf8').trim() !== '')
    }),
  )
})
