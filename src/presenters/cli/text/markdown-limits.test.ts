import { afterEach, expect, test, vi } from 'vitest'
import { lineWidth, paintLine, PLAIN, type Line } from './cell-width.ts'
import { markdownLexer } from '../../../../test/support/cli/markdown-lexer.ts'
import { LONGEST_BLOCK } from '../../../encoding/markdown/block-cutter.ts'
import { MarkdownStream } from './markdown.ts'

afterEach(() => vi.restoreAllMocks())

const BLOCKS = `# Title

A paragraph with **bold** and
a second line:
- one
  1. nested

> A quote

| a | b |
|---|---|
| 1 | 2 |

\`\`\`ts
const a = 1
\`\`\`
`

test.each([
  ['blocks of all kinds', BLOCKS],
  ['one list', '- an item of *one* list that never ends\n'],
  ['one paragraph', 'a line of one paragraph that never ends\n'],
  ['one line', 'a line that never ends '],
  ['one fence', '```\ncode that never ends\n'],
])('200 KB in pieces of 20 are lexed once: %s', (_, unit) => {
  const lexed = countLexed()
  const text = unit.repeat(Math.ceil(200_000 / unit.length))
  streamed(text.match(/[^]{1,20}/g) ?? [], 80)
  expect(lexed()).toBeLessThanOrEqual(text.length)
})

test('the cost of a preview per piece does not grow with the length of the text', () => {
  const cost = (length: number) => {
    const lexed = countLexed()
    const stream = new MarkdownStream(80)
    for (const chunk of BLOCKS.repeat(length).match(/[^]{1,20}/g) ?? []) {
      stream.push(chunk)
      stream.pending()
    }
    return lexed()
  }
  const [short, long] = [cost(20), cost(80)]
  expect(long).toBeLessThan(short * 4.2)
})

test('of a pending line that is very long only the end is shown', () => {
  const stream = new MarkdownStream(80)
  for (let at = 0; at < 20_000; at++) stream.push(`word${at % 10} `)
  const rows = stream.pending()
  expect(rows.length).toBeLessThan((LONGEST_BLOCK + 100) / 70)
  expect(shown(stream.end()).join(' ').endsWith(shown(rows).join(' '))).toBe(true)
})

test.each([
  ['a line of 100 KB', 'x'.repeat(100_000)],
  ['100 KB of CJK in a line', '漢'.repeat(33_000)],
  ['100 KB of stars', '*'.repeat(100_000)],
  ['a fence that is never closed', `\`\`\`\n${'code\n'.repeat(2_000)}`],
  ['a comment that is never closed', `<!--\n${'text\n'.repeat(2_000)}`],
  ['10,000 quotes deep', '>'.repeat(10_000) + 'x'],
  ['many quotes deep with a lazy line', `${'> '.repeat(2_000)}x\ny`],
  ['a list in lists', `${'- '.repeat(5_000)}x`],
  [
    'a list indented ever deeper',
    Array.from({ length: 100 }, (_, at) => `${'  '.repeat(at)}- x`).join('\n'),
  ],
  ['emphasis in emphasis', `${'*_'.repeat(1_000)}x${'_*'.repeat(1_000)}`],
  ['brackets in brackets', `${'['.repeat(2_000)}x${'](y)'.repeat(500)}`],
  ['a table of 200 columns', `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n${'|b'.repeat(200)}`],
  [
    'a table of 2,000 columns and rows',
    `${'|a'.repeat(2_000)}\n${'|-'.repeat(2_000)}\n${'|\n'.repeat(2_000)}`,
  ],
  ['100 KB of blank lines', `- a${'\n'.repeat(100_000)}  b`],
  ['marks without end', `x${'\u0301'.repeat(100_000)}`],
])('%s is shown within its columns', (_, text) => {
  for (const columns of [20, 80]) {
    const lines = rendered(text, columns)
    expect(lines.length).toBeGreaterThan(0)
    expect(Math.max(...lines.slice(0, 9_000).map(lineWidth))).toBeLessThanOrEqual(columns)
  }
})

test('quotes and lists are shown up to a depth, deeper ones as text', () => {
  const [sign, mark] = [
    { text: '> ', style: { dim: true } },
    { text: '- ', style: PLAIN },
  ]
  expect(rendered(`${'> '.repeat(12)}x`, 80)).toEqual([
    [...Array.from({ length: 8 }, () => sign), { text: '> > > > x', style: PLAIN }],
  ])
  expect(rendered(`${'- '.repeat(12)}x`, 80)).toEqual([
    [...Array.from({ length: 8 }, () => mark), { text: '- - - - x', style: PLAIN }],
  ])
})

test('a block on which the lexer fails is shown verbatim', () => {
  vi.spyOn(markdownLexer, 'blockTokens').mockImplementation(() => {
    throw new Error('Infinite loop on byte: 42')
  })
  expect(shown(rendered('a **b**\n\n- c', 80))).toEqual(['a **b**', '', '- c'])
})

/** The number of characters passed to the lexer. */
function countLexed(): () => number {
  const lex = vi.spyOn(markdownLexer, 'lex')
  lex.mockClear()
  return () => lex.mock.calls.reduce((sum, [source]) => sum + source.length, 0)
}

function rendered(text: string, columns: number): Line[] {
  return streamed([text], columns)
}

function streamed(chunks: readonly string[], columns: number): Line[] {
  const stream = new MarkdownStream(columns)
  return [...chunks.flatMap((chunk) => stream.push(chunk)), ...stream.end()]
}

function shown(lines: readonly Line[]): string[] {
  return lines.map((line) => paintLine(line, false).trimEnd())
}
