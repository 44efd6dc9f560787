import { countOf } from '../../../encoding/amounts.ts'
import {
  cellWidth,
  PLAIN,
  wrapLine,
  wrappedVerbatim,
  type Line,
  type Style,
} from '../text/cell-width.ts'
import { padTo } from '../text/pad-to.ts'
import { visibleLine, visibleText } from '../text/visible-text.ts'

/** How text is laid out in rows. */
interface Setting {
  readonly columns: number
  readonly style?: Style
  /** The prefix of the first row and, with `rest`, of the others, which must not be wider. */
  readonly first?: string
  readonly rest?: string
  readonly firstStyle?: Style
}

/** Wraps text between words to the width of the terminal. */
export function sentences(text: string, setting: Setting): Line[] {
  return set(text, setting, wrapLine)
}

/** The same for code, output and other text whose spaces matter. */
export function verbatim(text: string, setting: Setting): Line[] {
  return set(text, setting, wrappedVerbatim)
}

/** In one row; what does not fit ends with an ellipsis. */
export function oneRow(text: string, { columns, style = PLAIN, first = '' }: Setting): Line {
  const width = Math.max(1, columns - first.length)
  return [
    { text: first, style },
    { text: padTo(visibleLine(text), width).trimEnd(), style },
  ]
}

/** The parts that fit in one row, separated by dots; the first one always. */
export function fittingParts(parts: readonly string[], columns: number): string {
  let row = ''
  for (const part of parts) {
    const longer = row === '' ? part : `${row} · ${part}`
    if (row !== '' && cellWidth(longer) > columns) break
    row = longer
  }
  return row
}

/** The first rows, and how many more there are. */
export function head(rows: readonly Line[], most: number, indent = '', key = ''): Line[] {
  if (rows.length <= most) return [...rows]
  return [...rows.slice(0, most), foldNote(rows.length - most, indent, key)]
}

/** The first and last rows, and how many are between them. */
export function headAndTail(rows: readonly Line[], most: number, indent = '', key = ''): Line[] {
  if (rows.length <= most) return [...rows]
  const tail = Math.floor(most / 3)
  const between = foldNote(rows.length - most, indent, key)
  return [...rows.slice(0, most - tail), between, ...rows.slice(rows.length - tail)]
}

/** `key` shows the rest. */
function foldNote(count: number, indent: string, key: string): Line {
  return aside(`${indent}[… ${countOf(count, 'more line')}${key === '' ? '' : ` · ${key}`}]`)
}

export function aside(text: string): Line {
  return [{ text: visibleText(text), style: { dim: true } }]
}

function set(
  text: string,
  setting: Setting,
  wrap: (line: Line, columns: number) => Line[],
): Line[] {
  const { columns, style = PLAIN, first = '', firstStyle = style } = setting
  const { rest = ' '.repeat(first.length) } = setting
  const width = Math.max(1, columns - first.length)
  const rows = wrap([{ text: visibleText(text), style }], width)
  if (first === '') return rows
  return rows.map((row, at) => [
    at === 0 ? { text: first, style: firstStyle } : { text: rest, style: PLAIN },
    ...row,
  ])
}
