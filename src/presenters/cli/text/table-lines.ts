import { lineWidth, PLAIN, wrapLine, type Line } from './cell-width.ts'

/** Every row has as many cells as the header; no cell contains a newline. */
export interface Table {
  readonly header: readonly Line[]
  readonly rows: readonly (readonly Line[])[]
  readonly align: readonly ('left' | 'center' | 'right' | null)[]
}

/**
 * In columns, whose cells are wrapped if necessary; where that makes a column too narrow to read, each row as lines of
 * `header: cell`, without empty cells.
 */
export function tableLines(table: Table, columns: number): Line[] {
  const natural = table.header.map((cell, at) =>
    widest([cell, ...table.rows.map((row) => row[at])]),
  )
  const widths = fittingWidths(natural, columns)
  return widths === undefined ? stackRows(table, columns) : alignColumns(table, widths)
}

const BAR = ' │ '
const CROSS = '─┼─'
/** A column is not made narrower than this. */
const LEAST_WIDTH = 10
/** The header is repeated before every cell of its column, so a long one would bloat the text. */
const LONGEST_HEADER = 40

function widest(cells: readonly (Line | undefined)[]): number {
  return cells.reduce((most, cell) => Math.max(most, lineWidth(cell ?? [])), 0)
}

/** Narrow columns keep their width, wide ones share the rest; `undefined` if it is too little. */
function fittingWidths(natural: readonly number[], columns: number): number[] | undefined {
  let room = columns - BAR.length * (natural.length - 1)
  const widths: number[] = []
  const byWidth = natural.map((width, at) => ({ width, at })).sort((a, b) => a.width - b.width)
  for (const [done, { width, at }] of byWidth.entries()) {
    const given = Math.min(width, Math.floor(room / (natural.length - done)))
    if (given < Math.min(width, LEAST_WIDTH)) return undefined
    widths[at] = given
    room -= given
  }
  return widths
}

function alignColumns({ header, rows, align }: Table, widths: readonly number[]): Line[] {
  const line = (cells: readonly (Line | undefined)[]) =>
    widths.flatMap((width, at) => [
      ...(at === 0 ? [] : [{ text: BAR, style: { dim: true } }]),
      ...padCell(cells[at] ?? [], width, align[at] ?? 'left', at === widths.length - 1),
    ])
  const set = (cells: readonly Line[]) => {
    const wrapped = widths.map((width, at) => wrapLine(cells[at] ?? [], Math.max(1, width)))
    const height = Math.max(...wrapped.map(({ length }) => length))
    return Array.from({ length: height }, (_, row) => line(wrapped.map((cell) => cell[row])))
  }
  const rule: Line = [
    { text: widths.map((width) => '─'.repeat(width)).join(CROSS), style: { dim: true } },
  ]
  const body = rows.map(set)
  // Rows of several lines run into each other.
  const isTall = body.some(({ length }) => length > 1)
  return [
    ...set(header.map(bold)),
    rule,
    ...body.flatMap((lines, at) => (isTall && at > 0 ? [rule, ...lines] : lines)),
  ]
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
