import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { base64Length, isBase64, writeBase64 } from './base64.ts'

const PIECE = 48 * 1024

/** Writes the base64 between two other bytes, which must not change. */
function written(bytes: Buffer): string {
  const room = Buffer.alloc(base64Length(bytes.length) + 2, '.')
  expect(writeBase64(bytes, room, 1)).toBe(room.length - 1)
  return room.toString('latin1')
}

test('any bytes are encoded as Node encodes them, and nothing around them changes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (array) => {
      const bytes = Buffer.from(array)
      expect(written(bytes)).toBe(`.${bytes.toString('base64')}.`)
    }),
  )
})

test.each([
  ['few bytes', 0, 100],
  ['one piece', PIECE - 4, PIECE + 4],
  ['several pieces', 3 * PIECE - 4, 3 * PIECE + 4],
])('every length is encoded correctly: %s', (_, shortest, longest) => {
  const bytes = randomBytes(longest)
  for (let length = shortest; length <= longest; length += 1) {
    // At a different offset in memory each time, as bytes of a file may be.
    const some = bytes.subarray(longest - length)
    expect(written(some) === `.${some.toString('base64')}.`).toBe(true)
  }
})

test('the output of Buffer is valid base64, and other text of the same alphabet is not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(isBase64(Buffer.from(bytes).toString('base64'))).toBe(true)
    }),
  )
  for (const text of [
    'A',
    'AA',
    'AAA',
    'A===',
    '=',
    '====',
    'AA=A',
    'AAA=AAAA',
    'AAA-',
    'AA\n=',
    'AAAé',
  ]) {
    expect(isBase64(text), text).toBe(false)
  }
})
