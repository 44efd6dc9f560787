import { cellWidth, PLAIN, type Line } from '../text/cell-width.ts'
import { visibleText } from '../text/visible-text.ts'
import { graphemes, type Draft } from './draft.ts'

/** A draft as terminal rows, and the cursor position in them. */
export interface InputBox {
  readonly lines: readonly Line[]
  readonly cursor: { readonly row: number; readonly column: number }
}

/**
 * Lays out a draft in at most `most` rows around the cursor. Only these rows are computed, so that a draft of a
 * megabyte costs no more than a short one; a last row shows the total.
 */
export function inputBox(draft: Draft, columns: number, most: number): InputBox {
  // One cell is reserved for the cursor at the end of a full row.
  const width = Math.max(1, columns - PROMPT.length - 1)
  const texts = draft.text.split('\n')
  const place = placeOf(texts, draft.cursor)
  const all = rowsAround(texts, place, width, most)
  const isWhole = all.rows.length <= most && all.from === 0 && all.to === texts.length
  const shown = window(all, isWhole ? most : Math.max(1, most - 1))
  const note = isWhole ? [] : [noteOn(draft, texts.length)]
  const lines = shown.rows.map((text, row): Line => {
    const isFirst = all.from === 0 && shown.cut + row === 0
    return [
      { text: isFirst ? PROMPT : CONTINUATION, style: isFirst ? { bold: true } : PLAIN },
      { text, style: PLAIN },
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
    if (row !== cursor.row) return line
    const [prompt, rest] = line
    if (prompt === undefined || rest === undefined) return line
    const at = offsetOf(rest.text, cursor.column - PROMPT.length)
    const text = `${rest.text.slice(0, at)}${CARET}${rest.text.slice(at)}`
    return [prompt, { ...rest, text }]
  })
}

const PROMPT = '> '
const CONTINUATION = '  '
const CARET = '▏'
const TAB = '    '

/** Of a longer line, only this much on each side of the cursor is laid out. */
const NEAR = 4_096

interface Rows {
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
  /** The range of draft lines; `to` is exclusive. */
  readonly from: number
  readonly to: number
}

interface Place {
  readonly line: number
  readonly offset: number
}

function placeOf(texts: readonly string[], cursor: number): Place {
  let offset = cursor
  for (const [line, text] of texts.entries()) {
    if (offset <= text.length) return { line, offset }
    offset -= text.length + 1
  }
  return { line: texts.length - 1, offset: 0 }
}

/** Rows of the line with the cursor, and of the lines around it until there are enough. */
function rowsAround(
  texts: readonly string[],
  { line, offset }: Place,
  width: number,
  most: number,
): Rows {
  const own = rowsOf(texts[line] ?? '', width, offset)
  const { rows } = own
  let { row } = own.cursor
  let from = line
  let to = line + 1
  while (rows.length <= most && (from > 0 || to < texts.length)) {
    if (from > 0) {
      const above = rowsOf(texts[--from] ?? '', width).rows
      rows.unshift(...above)
      row += above.length
    }
    if (to < texts.length) rows.push(...rowsOf(texts[to++] ?? '', width).rows)
  }
  return { rows, cursor: { row, column: own.cursor.column }, from, to }
}

function rowsOf(
  text: string,
  width: number,
  offset = 0,
): { readonly rows: string[]; readonly cursor: { readonly row: number; readonly column: number } } {
  const start = Math.max(0, offset - NEAR)
  const near = text.slice(start, offset + NEAR)
  const rows: string[] = []
  let row = ''
  let used = 0
  let at = start
  let cursor = { row: 0, column: 0 }
  for (const grapheme of graphemes(near)) {
    if (at === offset) cursor = { row: rows.length, column: used }
    const shown = grapheme === '\t' ? TAB : visibleText(grapheme)
    const cells = cellWidth(shown)
    if (used + cells > width && used > 0) {
      if (at === offset) cursor = { row: rows.length + 1, column: 0 }
      rows.push(row)
      row = ''
      used = 0
    }
    row += shown
    used += cells
    at += grapheme.length
  }
  if (at === offset) cursor = { row: rows.length, column: used }
  rows.push(row)
  return { rows, cursor }
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

function noteOn({ text }: Draft, lines: number): Line {
  const count = lines === 1 ? '1 line' : `${lines} lines`
  return [{ text: `  [… ${count}, ${text.length} characters]`, style: { dim: true } }]
}

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
