import { expect, test } from 'vitest'
import { charsetName, decodedPieces } from './charset.ts'

const decoded = (bytes: Buffer, charset: string) => [...decodedPieces(bytes, charset)].join('')

test('the letters that windows-1252 has and Latin-1 has not are decoded', () => {
  expect(decoded(Buffer.of(0x93, 0x41, 0x94, 0x80, 0x85), 'windows-1252')).toBe('“A”€…')
  expect(decoded(Buffer.alloc(300_000, 0x80), 'windows-1252')).toBe('€'.repeat(300_000))
})

test('a character that lies across two pieces is one, and a byte order mark is none', () => {
  const text = `a${'👩'.repeat(70_000)}`
  expect(decoded(Buffer.from(`\ufeff${text}`, 'utf16le'), 'utf-16le')).toBe(text)
  expect(decoded(Buffer.from(`\ufeff${text}`), 'utf-8')).toBe(text)
})

test('what is not text of a charset is not decoded', () => {
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
