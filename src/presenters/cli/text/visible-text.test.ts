import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { MOST_MARKS, visibleLine, visibleText } from './visible-text.ts'

const hostile = fc.constantFrom(
  '\u001b[2J',
  '\u001b]8;;http://a.b\u0007',
  '\u001b]52;c;aGk=\u001b\\',
  '\u001bP1;1|x\u001b\\',
  '\u009b31m',
  '\r',
  '\b',
  '\0',
  '\u007f',
  '\n',
  '\t',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\u2028',
  '\u00ad',
  '\ud83d',
  '\ude00',
  '\u{1f469}\u200d\u{1f4bb}',
  '❤\ufe0f',
  '\u{e0041}',
  '\u{e0101}',
  'e\u0301',
  '漢',
  'plain',
)
const anyText = fc
  .array(
    fc.oneof(
      hostile,
      fc.string({ unit: 'binary' }),
      fc.nat(0xffff).map((code) => String.fromCharCode(code)),
    ),
  )
  .map((parts) => parts.join(''))

test('whatever the text and its chunks, nothing that controls a terminal or hides text passes', () => {
  fc.assert(
    fc.property(anyText, fc.nat(), (text, place) => {
      const cut = place % (text.length + 1)
      const shown = visibleText(text.slice(0, cut)) + visibleText(text.slice(cut))
      expect(offending(shown)).toEqual([])
      expect(offending(visibleText(text))).toEqual([])
    }),
    { numRuns: 2_000 },
  )
})

test('a name stays on its line', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(offending(visibleLine(text))).toEqual([])
      expect(visibleLine(text)).not.toMatch(/[\n\t\u200d]/)
    }),
    { numRuns: 1_000 },
  )
})

test('text that is already visible is unchanged', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(visibleText(visibleText(text))).toBe(visibleText(text))
      expect(visibleLine(visibleLine(text))).toBe(visibleLine(text))
    }),
  )
  const ordinary =
    'Grüße,\n\t漢字 e\u0301 ❤\ufe0f 1\ufe0f\u20e3 \u{1f1e9}\u{1f1ea} a\u00a0b \\u{1b} नमस्ते'
  expect(visibleText(ordinary)).toBe(ordinary)
})

test.each([
  ['CSI', '\u001b[2Jx', '\\u{1b}[2Jx'],
  ['an eight-bit CSI', '\u009b2Jx', '\\u{9b}2Jx'],
  ['OSC 8', '\u001b]8;;http://a.b\u0007x', '\\u{1b}]8;;http://a.b\\u{7}x'],
  ['OSC 52', '\u001b]52;c;aGk=\u001b\\', '\\u{1b}]52;c;aGk=\\u{1b}\\'],
  ['DCS', '\u001bPq\u001b\\', '\\u{1b}Pq\\u{1b}\\'],
  ['a carriage return', 'safe\rrm', 'safe\\u{d}rm'],
  ['backspaces', 'ab\b\bcd', 'ab\\u{8}\\u{8}cd'],
  ['a bidi override', 'a\u202eb', 'a\\u{202e}b'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ['letters of the tag block', '\u{e0041}', '\\u{e0041}'],
  ['a lone variation selector', 'a\ufe0f', 'a\\u{fe0f}'],
  ['half a surrogate pair', '\ud83d', '\\u{d83d}'],
])('%s is escaped', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown)
  expect(visibleLine(text)).toBe(shown)
})

test('joiners are dropped in prose if they only shape it, and escaped in names', () => {
  const [family, persian] = ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', 'می\u200cخواهم']
  expect(visibleText(family)).toBe('\u{1f468}\u{1f469}\u{1f467}')
  expect(visibleText(persian)).toBe('میخواهم')
  expect(visibleText('a\u200db\u200c')).toBe('a\\u{200d}b\\u{200c}')
  expect(visibleLine(family)).toBe('\u{1f468}\\u{200d}\u{1f469}\\u{200d}\u{1f467}')
  expect(visibleLine(persian)).toBe('می\\u{200c}خواهم')
})

test('excess combining marks are cut and counted', () => {
  const few = `x${'\u0301'.repeat(MOST_MARKS)}y`
  expect(visibleText(few)).toBe(few)
  expect(visibleText(`x${'\u0301'.repeat(9)}y`)).toBe(`x${'\u0301'.repeat(8)}(+1 mark)y`)
  expect(visibleText(`x${'\u0301'.repeat(100)}y`)).toBe(`x${'\u0301'.repeat(8)}(+92 marks)y`)
})

/** By code point, so that it does not repeat a mistake of the pattern under test. */
function offending(text: string): string[] {
  const pictures = /\p{ExtPict}[\ufe0e\ufe0f]|[0-9#*]\ufe0f\u20e3/gu
  return Array.from(text.replaceAll(pictures, '')).filter((sign) => {
    const code = sign.codePointAt(0) ?? 0
    if (sign === '\n' || sign === '\t') return false
    return OFFENDING.some(([from, to]) => code >= from && code <= to)
  })
}

const OFFENDING: readonly (readonly [number, number])[] = [
  [0, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe0fff],
]
