import { expect, test } from 'vitest'
import { extensionOf, lastName, nameOffence, shownName } from './attachment-name.ts'

test('the last extension of a name is its extension', () => {
  const names = ['a.png', 'a.PNG.exe', 'a.', 'a', '.png', '.a.png', 'a.png ', '']
  expect(names.map(extensionOf)).toEqual(['.png', '.exe', '.', '', '', '.png', '.png ', ''])
})

test('every path except the root ends in a name', () => {
  expect(['/a/b.png', '/a/b.png//', 'b.png', '/', ''].map(lastName)).toEqual([
    'b.png',
    'b.png',
    'b.png',
    '',
    '',
  ])
})

test.each([
  ['a NUL, anywhere', '/a\0/b.png'],
  ['a line break', '/a\r.png'],
  ['an escape', '/\u001b[31m.png'],
  ['a mark that turns the reading direction', '/\u2066a.png'],
  ['a mark that shows nothing', '/a\u200f.png'],
  ['a line separator', '/a\u2028.png'],
  ['half a character', '/\ud83d.png'],
  ['too many bytes', `/${'ä'.repeat(126)}.png`],
  ['too long a way to it', `${'/a'.repeat(2_100)}.png`],
])('a name with %s is refused', (_, path) => {
  expect(nameOffence(path)?.code).toBe('invalid_name')
})

test.each([
  ['/a b/Grüße, 日本語 (1).png'],
  ['/👩‍💻.png'],
  ['/Screenshot 10.15\u202fPM.png'],
  [`/${'ä'.repeat(125)}.png`],
  ['/odd\u202e/fine.png'],
  ['/שלום.png'],
])('a name that people give is fine: %s', (path) => {
  expect(nameOffence(path)).toBe(undefined)
})

test('a name is shown on one line, in one direction and with at most 100 characters', () => {
  const shown = ['a\n\u202e.png', 'a'.repeat(100), '👩'.repeat(101), '\0'.repeat(5_000)].map(
    shownName,
  )
  expect(shown.slice(0, 2)).toEqual([String.raw`a\u{a}\u{202e}.png`, 'a'.repeat(100)])
  expect(shown.map((name) => Array.from(name).length)).toEqual([18, 100, 100, 100])
  expect(shown.every((name) => !/\p{Cc}/u.test(name))).toBe(true)
})
