import { expect, test } from 'vitest'
import { lineWidth, paintLine, PLAIN, type Line } from './cell-width.ts'
import { tableLines, type Table } from './table-lines.ts'

test('a table that fits is shown in columns with the requested alignment', () => {
  const table = tableOf(
    ['name', 'n', 'x'],
    [
      ['漢字', '1', 'a'],
      ['b', '22', 'ccc'],
    ],
    ['left', 'right', 'center'],
  )
  expect(shown(tableLines(table, 40))).toEqual([
    'name │  n │  x',
    '─────┼────┼────',
    '漢字 │  1 │  a',
    'b    │ 22 │ ccc',
  ])
  expect(tableLines(table, 15)[0]?.[0]).toEqual({ text: 'name', style: { bold: true } })
})

test('a table with a cell that is too wide becomes lines of header and cell, without empty cells', () => {
  const table = tableOf(
    ['name', 'n', ''],
    [
      ['one', '1', 'x'],
      ['two', '', 'yy'],
    ],
  )
  expect(shown(tableLines(table, 13))).toEqual([
    'name │ n │',
    '─────┼───┼───',
    'one  │ 1 │ x',
    'two  │   │ yy',
  ])
  expect(shown(tableLines(table, 12))).toEqual(['name: one', 'n: 1', 'x', '', 'name: two', 'yy'])
  expect(shown(tableLines(tableOf(['a long name', 'b'], []), 8))).toEqual(['a long', 'name:', 'b:'])
})

test('cells that are too wide are wrapped in their columns, with a rule between such rows', () => {
  const table = tableOf(
    ['file', 'purpose'],
    [
      ['a.ts', 'assigns ships to berths and checks the tide'],
      ['b.ts', 'a ship'],
    ],
  )
  expect(shown(tableLines(table, 30))).toEqual([
    'file │ purpose',
    '─────┼────────────────────────',
    'a.ts │ assigns ships to berths',
    '     │ and checks the tide',
    '─────┼────────────────────────',
    'b.ts │ a ship',
  ])
})

test('a long header is not repeated in full before every cell', () => {
  const header = ['h'.repeat(500), ...'bcdefgh'.split('').map((letter) => letter.repeat(10))]
  const row = ['1', ...header.slice(1).map(() => '')]
  expect(shown(tableLines(tableOf(header, [row, row]), 80))).toEqual([
    `${'h'.repeat(40)}…: 1`,
    '',
    `${'h'.repeat(40)}…: 1`,
  ])
})

test('a table of 200 columns is shown', () => {
  const header = Array.from({ length: 200 }, (_, at) => `h${at}`)
  const lines = tableLines(tableOf(header, [header, header]), 80)
  expect(lines.length).toBe(401)
  expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(80)
})

function tableOf(header: string[], rows: string[][], align: Table['align'] = []): Table {
  const cell = (text: string): Line => (text === '' ? [] : [{ text, style: PLAIN }])
  return { header: header.map(cell), rows: rows.map((row) => row.map(cell)), align }
}

function shown(lines: readonly Line[]): string[] {
  return lines.map((line) => paintLine(line, false).trimEnd())
}
