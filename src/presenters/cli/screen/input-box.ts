import { cellWidth, PLAIN, type Line, type Span, type Style } from '../text/cell-width.ts'
import { visibleText } from '../text/visible-text.ts'
import { chipLabel, chipNumber, lineCount, NO_CHIPS, type Chips } from './chips.ts'
import { graphemes, lineEnd, lineStart, type Draft } from './draft.ts'

/** A draft as terminal rows, and the cursor position in them. */
export interface InputBox {
  readonly lines: readonly Line[]
  readonly cursor: { readonly row: number; readonly column: number }
}

/**
 * Lays out a draft in at most `most` rows around the cursor. Only these rows are computed, so that a draft of a
 * megabyte costs no more than a short one; a last row shows the total.
 */
export function inputBox(
  draft: Draft,
  columns: number,
  most: number,
  chips: Chips = NO_CHIPS,
): InputBox {
  // One cell is reserved for the cursor at the end of a full row.
  const width = Math.max(1, columns - PROMPT.length - 1)
  const all = rowsAround(draft, { width, chips }, most)
  const isWhole = all.rows.length <= most && all.from === 0 && all.to === draft.text.length
  const shown = window(all, isWhole ? most : Math.max(1, most - 1))
  const note = isWhole ? [] : [noteOn(draft)]
  const lines = shown.rows.map((row, at): Line => {
    const isFirst = all.from === 0 && shown.cut + at === 0
    return [
      { text: isFirst ? PROMPT : CONTINUATION, style: isFirst ? { bold: true } : PLAIN },
      ...row,
    ]
  })
  return {
    lines: most === 1 ? lines : [...lines, ...note],
    cursor: { row: shown.cursor.row, column: shown.cursor.column + PROMPT.length },
  }
}

/** The same box with the cursor drawn as a character, for when the terminal cursor is needed elsewhere. */
export function withCaret({ lines, cursor }: InputBox): Line[] {
  return lines.map((line, row) => {
    const [prompt, ...rest] = line
    if (row !== cursor.row || prompt === undefined) return line
    return [prompt, ...caretIn(rest, cursor.column - PROMPT.length)]
  })
}

function caretIn(spans: Line, column: number): Line {
  let left = column
  const at = spans.findIndex(({ text }, index) => {
    const isHere = left <= cellWidth(text) || index === spans.length - 1
    if (!isHere) left -= cellWidth(text)
    return isHere
  })
  const span = spans[at]
  if (span === undefined) return [{ text: CARET, style: PLAIN }]
  const offset = offsetOf(span.text, left)
  const text = `${span.text.slice(0, offset)}${CARET}${span.text.slice(offset)}`
  return spans.map((one, index) => (index === at ? { ...span, text } : one))
}

const PROMPT = '> '
const CONTINUATION = '  '
const CARET = '▏'
const TAB = '    '
const CHIP: Style = { colour: 'cyan' }

/** Of a longer line, only this much on each side of the cursor is laid out. */
const NEAR = 4_096

interface Rows {
  readonly rows: readonly Line[]
  readonly cursor: { readonly row: number; readonly column: number }
  /** The range of the draft; `to` is exclusive. */
  readonly from: number
  readonly to: number
}

interface Layout {
  readonly width: number
  readonly chips: Chips
}

/** Rows of the line with the cursor, and of the lines around it until there are enough. */
function rowsAround(draft: Draft, layout: Layout, most: number): Rows {
  const { text, cursor } = draft
  let from = lineStart(draft)
  let to = lineEnd(draft)
  const own = rowsOf(text.slice(from, to), layout, cursor - from)
  const { rows } = own
  let { row } = own.cursor
  while (rows.length <= most && (from > 0 || to < text.length)) {
    if (from > 0) {
      const start = lineStart({ text, cursor: from - 1 })
      const above = rowsOf(text.slice(start, from - 1), layout).rows
      from = start
      rows.unshift(...above)
      row += above.length
    }
    if (to < text.length) {
      const end = lineEnd({ text, cursor: to + 1 })
      rows.push(...rowsOf(text.slice(to + 1, end), layout).rows)
      to = end
    }
  }
  return { rows, cursor: { row, column: own.cursor.column }, from, to }
}

function rowsOf(
  text: string,
  { width, chips }: Layout,
  offset = 0,
): { readonly rows: Line[]; readonly cursor: { readonly row: number; readonly column: number } } {
  const start = Math.max(0, offset - NEAR)
  const near = text.slice(start, offset + NEAR)
  const rows: Line[] = []
  let row: Span[] = []
  let used = 0
  let at = start
  let cursor = { row: 0, column: 0 }
  for (const grapheme of graphemes(near)) {
    if (at === offset) cursor = { row: rows.length, column: used }
    for (const piece of piecesOf(grapheme, chips, width)) {
      const cells = cellWidth(piece.text)
      if (used + cells > width && used > 0) {
        if (at === offset && row.length > 0 && cursor.row === rows.length && cursor.column === used)
          cursor = { row: rows.length + 1, column: 0 }
        rows.push(row)
        row = []
        used = 0
      }
      add(row, piece)
      used += cells
    }
    at += grapheme.length
  }
  if (at === offset) cursor = { row: rows.length, column: used }
  rows.push(row)
  return { rows, cursor }
}

/** What is shown for one grapheme. A chip is broken where the terminal is narrower than its label. */
function piecesOf(grapheme: string, chips: Chips, width: number): readonly Span[] {
  const pasted = chips.get(grapheme)
  if (pasted === undefined)
    return [{ text: grapheme === '\t' ? TAB : visibleText(grapheme), style: PLAIN }]
  const label = chipLabel(pasted, chipNumber(grapheme))
  const pieces = label.length <= width ? [label] : Array.from(label)
  return pieces.map((text) => ({ text, style: CHIP }))
}

function add(row: Span[], piece: Span): void {
  const last = row.at(-1)
  if (last?.style === piece.style) row.splice(-1, 1, { ...last, text: last.text + piece.text })
  else row.push(piece)
}

/** At most `most` rows, including the cursor. */
function window(all: Rows, most: number): Rows & { readonly cut: number } {
  const last = Math.max(0, all.rows.length - most)
  const cut = Math.min(last, Math.max(0, all.cursor.row - most + 1))
  return {
    ...all,
    rows: all.rows.slice(cut, cut + most),
    cursor: { row: all.cursor.row - cut, column: all.cursor.column },
    cut,
  }
}

function noteOn({ text }: Draft): Line {
  // The same text is drawn many times, for example while the cursor moves.
  if (counted.text !== text) counted = { text, lines: lineCount(text) }
  const { lines } = counted
  const count = lines === 1 ? '1 line' : `${lines} lines`
  return [{ text: `  [… ${count}, ${text.length} characters]`, style: { dim: true } }]
}

let counted = { text: '', lines: 1 }

/** The offset of a column in a text that is already visible. */
function offsetOf(text: string, column: number): number {
  let cells = 0
  let offset = 0
  for (const grapheme of graphemes(text)) {
    if (cells >= column) break
    cells += cellWidth(grapheme)
    offset += grapheme.length
  }
  return offset
}
