import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainText } from './plain-text.ts'

test.each([
  ['plain text', 'a\tb\nc\n', 'a\tb\nc\n'],
  ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
  ['a title', '\x1b]0;title\x07text', 'text'],
  ['a link', '\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\', 'here'],
  ['a device control string', '\x1bPq#0\x1b\\text', 'text'],
  ['forms with one character', '\u009b31mred\u009d0;t\u009c!', 'red!'],
  ['an unfinished title, whose text stays', '\x1b]0;title\nnext', '0;title\nnext'],
  ['an unfinished sequence', 'a\x1b[', 'a'],
  ['a character set', '\x1b(Btext\x1b7', 'text'],
  ['control characters', 'a\0b\x07c\x08d\x7fe\u0085f', 'abcdef'],
  ['line breaks of other systems', 'a\r\nb\rc\r\n', 'a\nb\nc\n'],
  ['other scripts', 'ä€😀\u2028', 'ä€😀\u2028'],
])('%s', (_, given, text) => {
  const made = plainText(Buffer.from(given))
  expect([made.text, made.invalid_bytes_replaced]).toEqual([text, 0])
})

test.each([
  ['one byte', [0x61, 0xff, 0x62], 'a\uFFFDb', 1],
  ['a cut character', [0x61, 0xe2, 0x82], 'a\uFFFD', 2],
  ['a surrogate', [0xed, 0xa0, 0x80], '\uFFFD\uFFFD\uFFFD', 3],
  ['a true replacement character', [0xef, 0xbf, 0xbd, 0x80], '\uFFFD\uFFFD', 1],
])('invalid bytes are replaced and counted: %s', (_, bytes, text, count) => {
  const made = plainText(Buffer.from(bytes))
  expect([made.text, made.invalid_bytes_replaced]).toEqual([text, count])
})

// In quadratic time, this would exceed the time limit of a test.
test.each(['\u009d', '\u0090', '\u009b', '\x1b]', '\x1bP', '\x1b['])(
  'many starts of sequences without an end take linear time: %j',
  (start) => {
    const { text } = plainText(Buffer.from(`${start.repeat(1_000_000)}\ntext`))
    expect([text.endsWith('\ntext'), /[^\P{Cc}\t\n]/u.test(text)]).toEqual([true, false])
  },
)

test('removal is reported; line breaks do not count', () => {
  expect(plainText(Buffer.from('a\r\n')).hadControls).toBe(false)
  expect(plainText(Buffer.from('a\x07')).hadControls).toBe(true)
})

test('any bytes become well-formed text without control characters, and removing again changes nothing', () => {
  const chunk = fc.oneof(
    fc.uint8Array(),
    fc
      .constantFrom('\x1b[', '\x1b]', '\x07', '\x1b\\', '\x9c', '\r', '\uFFFD', 'ä', 'm')
      .map((s) => Buffer.from(s)),
  )
  fc.assert(
    fc.property(fc.array(chunk), (chunks) => {
      const bytes = Buffer.concat(chunks)
      const { text, invalid_bytes_replaced } = plainText(bytes)
      expect(text.isWellFormed()).toBe(true)
      expect(text).not.toMatch(/[^\P{Cc}\t\n]/u)
      expect(plainText(Buffer.from(text)).text).toBe(text)
      expect(invalid_bytes_replaced === 0).toBe(isUtf8(bytes))
      expect(invalid_bytes_replaced).toBeLessThanOrEqual(bytes.length)
    }),
  )
})
