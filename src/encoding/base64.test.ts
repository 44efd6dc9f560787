import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { base64Between } from './base64.ts'

const PIECE = 48 * 1024

/** What it is said to be, made in the obvious way. */
function asString(before: string, bytes: Buffer, after: string): Buffer {
  return Buffer.from(before + bytes.toString('base64') + after)
}

test('any bytes stand in base64 between any texts', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary-ascii' }),
      fc.uint8Array({ maxLength: 400 }),
      fc.string({ unit: 'binary-ascii' }),
      (before, array, after) => {
        const bytes = Buffer.from(array)
        const made = base64Between(before, bytes, after)
        expect(made.equals(asString(before, bytes, after))).toBe(true)
      },
    ),
  )
})

test.each([
  ['few bytes', 0, 100],
  ['one piece', PIECE - 4, PIECE + 4],
  ['several pieces', 3 * PIECE - 4, 3 * PIECE + 4],
])('no length is special: %s', (_, shortest, longest) => {
  const bytes = randomBytes(longest)
  for (let length = shortest; length <= longest; length += 1) {
    // From another place in memory each time, as bytes of a file may be.
    const some = bytes.subarray(longest - length)
    expect(base64Between('{"é":"', some, '"}').equals(asString('{"é":"', some, '"}'))).toBe(true)
  }
})

test('the memory is as long as what it holds, and nobody else has it', () => {
  const made = base64Between('"', Buffer.from('tide'), '"')
  expect([made.toString(), made.byteOffset, made.buffer.byteLength]).toEqual(['"dGlkZQ=="', 0, 10])
})
