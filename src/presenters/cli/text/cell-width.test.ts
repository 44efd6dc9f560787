import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  cellWidth,
  lineWidth,
  paintLine,
  PLAIN,
  wrapLine,
  wrappedVerbatim,
  type Line,
  type Style,
} from './cell-width.ts'
import { visibleText } from './visible-text.ts'

test.each([
  ['ASCII', 'abc', 3],
  ['CJK', '漢字', 4],
  ['full-width letters', 'ａｂ', 4],
  ['a letter with a mark', 'e\u0301', 1],
  ['a picture', '\u{1f600}', 2],
  ['a symbol with emoji presentation', '⚠\ufe0f', 2],
  ['a keycap', '1\ufe0f\u20e3', 2],
  ['a flag', '\u{1f1e9}\u{1f1ea}', 2],
  ['a picture with a skin tone, as the widest terminals draw it', '\u{1f44d}\u{1f3fd}', 4],
  ['pictures with joiners, as the widest terminals draw them', '\u{1f469}\u200d\u{1f4bb}', 4],
  ['a tab after one letter', 'a\tb', 5],
  ['nothing', '', 0],
])('%s has a width', (_, text, width) => {
  expect(cellWidth(text)).toBe(width)
})

test('lines break between words, and spaces at a break are dropped', () => {
  expect(texts(wrapLine(line('one two  three'), 7))).toEqual(['one two', 'three'])
  expect(texts(wrapLine(line('one two '), 7))).toEqual(['one two'])
  expect(texts(wrapLine(line('  one two'), 6))).toEqual(['  one', 'two'])
  expect(texts(wrapLine(line('one\n\ntwo'), 9))).toEqual(['one', '', 'two'])
  expect(texts(wrapLine(line(''), 9))).toEqual([''])
})

test('a word longer than the line is broken, and CJK anywhere', () => {
  expect(texts(wrapLine(line('a bcdefgh i'), 4))).toEqual(['a', 'bcde', 'fgh', 'i'])
  expect(texts(wrapLine(line('ab漢字漢字'), 5))).toEqual(['ab漢', '字漢', '字'])
})

test('a grapheme is never split; one that is too wide becomes a question mark', () => {
  const thumb = '\u{1f44d}\u{1f3fd}'
  expect(texts(wrapLine(line(`abc${thumb}${thumb}`), 6))).toEqual(['abc', thumb, thumb])
  expect(texts(wrapLine(line(`${thumb}漢e\u0301`), 1))).toEqual(['?', '?', 'e\u0301'])
  const flood = `x${'\u1100'.repeat(1_000)}`
  expect(texts(wrapLine(line(flood), 80))).toEqual(['x?'])
})

test('verbatim, every space stays and tabs reach their column', () => {
  expect(texts(wrappedVerbatim(line('a  bc  d '), 4))).toEqual(['a  ', 'bc  ', 'd '])
  expect(texts(wrappedVerbatim(line('a\tb\n\tc'), 10))).toEqual(['a   b', '    c'])
})

test('styles stay with their text over a break, and equal neighbours are joined', () => {
  const [red, bold]: [Style, Style] = [{ colour: 'red' }, { bold: true }]
  const spans = [
    { text: 'one t', style: red },
    { text: 'wo', style: { ...red } },
    { text: ' three', style: bold },
  ]
  expect(wrapLine(spans, 7)).toEqual([
    [{ text: 'one two', style: red }],
    [{ text: 'three', style: bold }],
  ])
})

test('a mark that begins a span stays on the character before it', () => {
  const spans = [
    { text: 'abc', style: PLAIN },
    { text: '\u0301d', style: { bold: true } },
  ]
  expect(texts(wrapLine(spans, 3))).toEqual(['abc\u0301', 'd'])
})

const anyLine = fc.array(
  fc.record({
    text: fc
      .array(
        fc.oneof(
          fc.string({ unit: 'grapheme' }),
          fc.constantFrom(' ', '  ', 'word', '漢', '\t', '\u{1f44d}\u{1f3fd}', 'e\u0301'),
        ),
      )
      .map((parts) => visibleText(parts.join('')).replaceAll('\n', ' ')),
    style: fc.constantFrom<Style>(PLAIN, { bold: true }, { colour: 'red', underline: true }),
  }),
)

test('whatever the text, no line is too wide and no text is lost', () => {
  fc.assert(
    fc.property(anyLine, fc.integer({ min: 8, max: 40 }), (spans, columns) => {
      for (const wrap of [wrapLine, wrappedVerbatim]) {
        const lines = wrap(spans, columns)
        for (const each of lines) expect(lineWidth(each)).toBeLessThanOrEqual(columns)
        // Only a grapheme that does not fit is replaced, and only one of many code points is that wide.
        if (!texts(lines).join('').includes('?')) {
          expect(letters(texts(lines).join(''))).toBe(letters(texts([spans]).join('')))
        }
      }
      expect(texts(wrappedVerbatim(spans, columns)).join('').length).toBeGreaterThanOrEqual(
        texts(wrapLine(spans, columns)).join('').length,
      )
    }),
    { numRuns: 500 },
  )
})

test('text that is cut into windows has the graphemes of the whole', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          'a',
          'é',
          'e\u0301',
          '漢',
          '\u{1f1e9}',
          '\u{1f44d}\u{1f3fd}',
          '\u1100',
          '\u1161',
        ),
        { minLength: 300, maxLength: 900 },
      ),
      (parts) => {
        const text = parts.join('')
        const segments = [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment)
        expect(texts(wrapLine(line(text), 1)).length).toBe(segments.length)
      },
    ),
    { numRuns: 50 },
  )
})

test.each(['x', '漢', 'é', '\t', ' '])('100 KB of %j in one line are wrapped', (sign) => {
  const lines = wrappedVerbatim(line(sign.repeat(100_000)), 80)
  expect(lines.length).toBe(Math.ceil((cellWidth(sign) * 100_000) / 80))
})

test('every style is painted and closed', () => {
  const all: Style = {
    bold: true,
    dim: true,
    italic: true,
    underline: true,
    strike: true,
    colour: 'cyan',
  }
  const spans = [
    { text: 'a', style: all },
    { text: 'b', style: PLAIN },
    { text: 'c', style: { colour: 'red' as const } },
  ]
  expect(paintLine(spans, true)).toBe('\u001b[1;2;3;4;9;36ma\u001b[0mb\u001b[31mc\u001b[0m')
  expect(paintLine(spans, false)).toBe('abc')
  expect(paintLine([{ text: '', style: all }], true)).toBe('')
})

test('only our own styles pass, even in text that was not escaped', () => {
  const spans = [{ text: '\u001b[2J\r\n\u202e', style: { bold: true } }]
  expect(paintLine(spans, true)).toBe('\u001b[1m\\u{1b}[2J\\u{d}\\u{a}\\u{202e}\u001b[0m')
})

function line(text: string): Line {
  return [{ text, style: PLAIN }]
}

function texts(lines: readonly Line[]): string[] {
  return lines.map((spans) => spans.map(({ text }) => text).join(''))
}

function letters(text: string): string {
  return text.replaceAll(/[ \t]/g, '')
}
