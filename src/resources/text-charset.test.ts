import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { textFacts } from './text-charset.ts'

const LARGE = 'one line of plain text\n'.repeat(20_000)

test.each([
  ['one\ntwo\n', 2],
  ['one\ntwo', 2],
  ['\n', 1],
  ['one', 1],
  ['one\r\ntwo\r\n', 2],
  ['\ufeffone\n', 1],
  ['a colour \u001b[31m, and \u001b$5 that is none\n', 1],
  ['schön, \u001b$5\n', 1],
  ['schön 👩‍💻\nFIX\u0001ok\n', 2],
])('UTF-8 is text without a charset: %j', (text, lines) => {
  expect(textFacts(Buffer.from(text))).toEqual({ lines })
})

test.each([
  ['utf-16le', Buffer.from('\ufeffone\ntwo\n', 'utf16le')],
  ['utf-16be', Buffer.from('\ufeffone\ntwo\n', 'utf16le').swap16()],
  ['windows-1252', Buffer.from('Grüße aus Köln,\nschöne Tage, der Fluß ist breit.\n', 'latin1')],
  ['iso-2022-jp', Buffer.from('\x1b$B$3$l$OF|K\\8l$G$9!#\x1b(B\n\x1b$B$3$l$b\x1b(B\n')],
  ['koi8-r', Buffer.from('eec120c4d7cfd2c520d4d2c1d7c10aeec120d4d2c1d7c520c4d2cfd7c10a', 'hex')],
])('text in %s is detected by its bytes', (charset, bytes) => {
  expect(textFacts(bytes)).toEqual({ lines: 2, charset })
})

test('a single letter far into a large text identifies its charset', () => {
  const bytes = Buffer.from(`${LARGE}Grüße aus Köln, schöne Tage\n${LARGE}`, 'latin1')
  expect(textFacts(bytes)).toEqual({ lines: 40_001, charset: 'windows-1252' })
})

test('a large text of one line in another charset is read to its end', () => {
  const bytes = Buffer.from('Die schönen Tage, grüne Bäume; '.repeat(20_000), 'latin1')
  expect(textFacts(bytes)).toEqual({ lines: 1, charset: 'windows-1252' })
})

test('a character across a piece boundary is one character', () => {
  const text = `\ufeff${'a'.repeat(131_070)}👩👩${'b'.repeat(10)}`
  expect(textFacts(Buffer.from(text, 'utf16le'))).toEqual({ lines: 1, charset: 'utf-16le' })
})

test.each([
  ['a NUL', Buffer.from('one\0two')],
  ['UTF-32', Buffer.from('fffe00006f0000006e000000', 'hex')],
  ['half a character of UTF-16', Buffer.from('fffe6f006e', 'hex')],
  ['UTF-16 with a NUL', Buffer.from('\ufeffone\0two', 'utf16le')],
  ['control characters in no charset', Buffer.from('0102fe03ff', 'hex')],
])('%s is not text', (_, bytes) => {
  expect(textFacts(bytes)).toBe(undefined)
})

test('UTF-8 is never detected as another charset', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      const plain = text.toWellFormed()
      if (plain.includes('\0')) return
      const lines = plain.split('\n').length - (plain.endsWith('\n') ? 1 : 0)
      expect(textFacts(Buffer.from(plain))).toEqual({ lines })
    }),
    { seed: 1 },
  )
})

test('random bytes are not text, or text in a charset that can decode them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
      const facts = textFacts(Buffer.from(bytes))
      if (facts?.charset === undefined) return
      expect(new TextDecoder(facts.charset, { fatal: true }).decode(bytes)).not.toMatch(/\0/)
    }),
    { seed: 1, numRuns: 300 },
  )
})
