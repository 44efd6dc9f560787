import { lineWidth, PLAIN, wrapLine, type Line } from './cell-width.ts'

/** Every row has as many cells as the header; no cell contains a newline. */
export interface Table {
  readonly header: readonly Line[]
  readonly rows: readonly (readonly Line[])[]
  readonly align: readonly ('left' | 'center' | 'right' | null)[]
}

/** In columns if they fit; otherwise each row as lines of `header: cell`, without empty cells. */
export function tableLines(table: Table, columns: number): Line[] {
  const widths = table.header.map((cell, at) => widest([cell, ...table.rows.map((row) => row[at])]))
  const width = widths.reduce((sum, each) => sum + each, 0) + BAR.length * (widths.length - 1)
  return width <= columns ? alignColumns(table, widths) : stackRows(table, columns)
}

const BAR = ' │ '
const CROSS = '─┼─'
/** The header is repeated before every cell of its column, so a long one would bloat the text. */
const LONGEST_HEADER = 40

function widest(cells: readonly (Line | undefined)[]): number {
  return cells.reduce((most, cell) => Math.max(most, lineWidth(cell ?? [])), 0)
}

function alignColumns({ header, rows, align }: Table, widths: readonly number[]): Line[] {
  const row = (cells: readonly Line[]) =>
    widths.flatMap((width, at) => [
      ...(at === 0 ? [] : [{ text: BAR, style: { dim: true } }]),
      ...padCell(cells[at] ?? [], width, align[at] ?? 'left', at === widths.length - 1),
    ])
  const rule = widths.map((width) => '─'.repeat(width)).join(CROSS)
  return [row(header.map(bold)), [{ text: rule, style: { dim: true } }], ...rows.map(row)]
}

/** The last cell needs no padding. */
function padCell(
  cell: Line,
  width: number,
  align: 'left' | 'center' | 'right',
  last: boolean,
): Line {
  const free = width - lineWidth(cell)
  const before = { left: 0, center: Math.floor(free / 2), right: free }[align]
  return [...spaces(before), ...cell, ...spaces(last ? 0 : free - before)]
}

function spaces(count: number): Line {
  return count === 0 ? [] : [{ text: ' '.repeat(count), style: PLAIN }]
}

function stackRows({ header, rows }: Table, columns: number): Line[] {
  const names = header.map(label)
  if (rows.length === 0) return names.flatMap((name) => wrapLine(name, columns))
  return rows.flatMap((row, at) => [
    ...(at === 0 ? [] : [[]]),
    ...row.flatMap((cell, column) =>
      cell.length === 0 ? [] : wrapLine([...(names[column] ?? []), ...cell], columns),
    ),
  ])
}

function label(header: Line): Line {
  if (header.length === 0) return []
  const [start = [], ...more] = wrapLine(header, LONGEST_HEADER)
  const text = start.map((span) => span.text).join('')
  return [{ text: `${text}${more.length === 0 ? '' : '…'}: `, style: { bold: true } }]
}

function bold(cell: Line): Line {
  return cell.map(({ text, style }) => ({ text, style: { ...style, bold: true } }))
}
