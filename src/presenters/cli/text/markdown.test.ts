import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsedMarkdown } from '../../../encoding/markdown/parse.ts'
import { lineWidth, paintLine, type Line } from './cell-width.ts'
import { blockLines } from './markdown-lines.ts'
import { MarkdownStream } from './markdown.ts'

const sourceLine = fc.constantFrom(
  'text *em*',
  'more **b** `c`',
  '- a',
  '- [x] b',
  '  - c',
  '    deep',
  '   three',
  '1. one',
  '2) two',
  '10. ten',
  '# H',
  '> q',
  '> - q',
  '> > q',
  '```',
  '~~~ts',
  '   ```',
  '| a | b |',
  '|---|:-:|',
  '| 1 | 漢字 |',
  '---',
  '===',
  '',
  '',
  '',
  ' \t',
  '<div>',
  '<!--',
  '-->',
  '<pre>',
  '\tt',
  '-',
  '[x]: y',
  'a\\',
  'b  ',
  'c\r',
  '\u001b[2J',
  '\u{1f469}\u200d\u{1f4bb} e\u0301',
  '&#27;',
  `word ${'long'.repeat(12)}`,
  '[a](http://b.c)',
  '![d](e)',
  '***',
  '+ f',
)
const markdown = fc
  .oneof(
    fc.array(sourceLine, { maxLength: 20 }).map((lines) => lines.join('\n')),
    fc.array(fc.oneof(sourceLine, fc.constant('\n'), fc.string())).map((parts) => parts.join('')),
  )
  .chain((text) => fc.record({ text: fc.constant(text), cuts: fc.array(fc.nat(text.length)) }))

test('however a text is cut, its lines are the same, and none is too wide', () => {
  fc.assert(
    fc.property(markdown, fc.integer({ min: 1, max: 60 }), ({ text, cuts }, columns) => {
      const whole = rendered(text, columns)
      expect(streamed(chunksOf(text, cuts), columns)).toEqual(whole)
      expect(streamed(text.split(''), columns)).toEqual(whole)
      for (const line of whole) expect(lineWidth(line)).toBeLessThanOrEqual(columns)
    }),
    { numRuns: 500 },
  )
})

test('final and pending lines together are the rendering of the text so far', () => {
  fc.assert(
    fc.property(markdown, ({ text, cuts }) => {
      const stream = new MarkdownStream(40)
      const final: Line[] = []
      let soFar = ''
      for (const chunk of chunksOf(text, cuts)) {
        final.push(...stream.push(chunk))
        soFar += chunk
        expect([...final, ...stream.pending()]).toEqual(rendered(soFar, 40))
      }
    }),
    { numRuns: 300 },
  )
})

test('every line is escaped before it is measured', () => {
  fc.assert(
    fc.property(markdown, ({ text }) => {
      const bare = rendered(text, 40)
        .flatMap((line) => line.map((span) => span.text))
        .join('')
      expect(bare).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
    }),
    { numRuns: 300 },
  )
})

const ORDINARY = `# Title

A paragraph with **bold** and
a second line:
- one
- two
  1. nested

     with a paragraph
  2. more
- three

Steps:

1. First:
   \`\`\`sh
   npm ci

   npm test
   \`\`\`
2. Second

> A quote
> in two lines

| a | b |
|---|---|
| 1 | 2 |

Setext
------
    code

\`\`\`ts
const a = 1

# no heading
\`\`\`
The end.
`

test('ordinary text is split only where the lexer would split it', () => {
  const words = (lines: readonly Line[]) =>
    lines.map((line) => paintLine(line, true)).filter((line) => line !== '')
  expect(words(rendered(ORDINARY, 60))).toEqual(
    words(blockLines(parsedMarkdown(ORDINARY) ?? [], 60)),
  )
})

test('an item, a heading and a line of code are returned before their block or list ends', () => {
  const stream = new MarkdownStream(40)
  expect(shown(stream.push('# A\n'))).toEqual(['A'])
  expect(shown(stream.push('- b\n- c'))).toEqual([])
  expect(shown(stream.push('\n'))).toEqual(['', '- b'])
  expect(shown(stream.push('```\nd\n'))).toEqual(['- c', '', 'd'])
  expect(shown(stream.pending())).toEqual([])
  expect(shown(stream.push('e'))).toEqual([])
  expect(shown(stream.pending())).toEqual(['e'])
  expect(shown(stream.end())).toEqual(['e'])
})

function rendered(text: string, columns: number): Line[] {
  return streamed([text], columns)
}

function streamed(chunks: readonly string[], columns: number): Line[] {
  const stream = new MarkdownStream(columns)
  return [...chunks.flatMap((chunk) => stream.push(chunk)), ...stream.end()]
}

function chunksOf(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts, text.length].sort((a, b) => a - b)
  return places.slice(1).map((end, at) => text.slice(places[at], end))
}

function shown(lines: readonly Line[]): string[] {
  return lines.map((line) => paintLine(line, false).trimEnd())
}
