import { expect, test } from 'vitest'
import { textLines } from './text-lines.ts'

test.each([
  ['the first one', 'one\ntwo\nthree\n', 1, 1, 'one\n'],
  ['some', 'one\ntwo\nthree\n', 2, 3, 'two\nthree\n'],
  ['the last line, without a line end', 'one\r\n\r\nthree', 2, 3, '\r\nthree'],
  ['other letters', 'schön\n🚢\n', 2, 2, '🚢\n'],
])('lines are returned unchanged: %s', (_, text, from, to, expected) => {
  expect(textLines(Buffer.from(text), { from, to })).toEqual({
    ok: true,
    value: {
      bytes: Buffer.from(expected),
      media_type: 'text/plain',
      params: { encoder: 'hawser', format: 'text' },
    },
  })
})

test.each([
  ['windows-1252', Buffer.from('eins\ngr\xfcn\n', 'latin1'), 'grün\n'],
  ['utf-16le', Buffer.from('\ufeffeins\ngrün\n', 'utf16le'), 'grün\n'],
  ['shift_jis', Buffer.from('92\n\x93\xfa\x96\x7b\n', 'latin1'), '日本\n'],
])('lines of a text in %s become UTF-8', (charset, bytes, expected) => {
  const lines = textLines(bytes, { from: 2, to: 2 }, charset)
  expect(lines.ok && lines.value.bytes.toString()).toBe(expected)
})

test('a byte order mark is not part of the first line', () => {
  const lines = textLines(Buffer.from('\ufeffone\n'), { from: 1, to: 1 })
  expect(lines.ok && lines.value.bytes.toString()).toBe('one\n')
})

test.each([
  ['one\ntwo', 2, 3, 2],
  ['one\ntwo\n', 3, 3, 2],
  ['one\ntwo\n', 2, 1, 2],
  ['one\n', 0, 1, 1],
  ['', 1, 1, 0],
])('lines that %j does not have are refused: %d to %d', (text, from, to, lines) => {
  expect(textLines(Buffer.from(text), { from, to })).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', details: { lines } },
  })
})

test('an unknown charset is reported', () => {
  const lines = textLines(Buffer.from('one\n'), { from: 1, to: 1 }, 'klingon')
  expect(lines).toMatchObject({ ok: false, error: { kind: 'unreadable' } })
})
