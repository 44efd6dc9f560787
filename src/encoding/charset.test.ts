import { expect, test } from 'vitest'
import { charsetName, decodedPieces } from './charset.ts'

const decoded = (bytes: Buffer, charset: string) => [...decodedPieces(bytes, charset)].join('')

test('the letters of windows-1252 that Latin-1 lacks are decoded', () => {
  expect(decoded(Buffer.of(0x93, 0x41, 0x94, 0x80, 0x85), 'windows-1252')).toBe('“A”€…')
  expect(decoded(Buffer.alloc(300_000, 0x80), 'windows-1252')).toBe('€'.repeat(300_000))
})

test('a character across two pieces is decoded as one, and a byte order mark is dropped', () => {
  const text = `a${'👩'.repeat(70_000)}`
  expect(decoded(Buffer.from(`\ufeff${text}`, 'utf16le'), 'utf-16le')).toBe(text)
  expect(decoded(Buffer.from(`\ufeff${text}`), 'utf-8')).toBe(text)
})

test('bytes that are invalid in a charset are not decoded', () => {
  expect(() => decoded(Buffer.of(0x61, 0xff), 'utf-8')).toThrow(TypeError)
  expect(() => decoded(Buffer.of(0x82), 'shift_jis')).toThrow(TypeError)
  expect(() => decoded(Buffer.of(0x61), 'utf-32')).toThrow(RangeError)
})

test('a charset has one name', () => {
  const names = ['UTF-8', 'latin1', 'ISO-8859-1', 'Shift_JIS', 'UTF-32LE', '']
  expect(names.map(charsetName)).toEqual([
    'utf-8',
    'windows-1252',
    'windows-1252',
    'shift_jis',
    undefined,
    undefined,
  ])
})
