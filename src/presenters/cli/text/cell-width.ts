import { eastAsianWidth } from 'get-east-asian-width'
import { visibleLine } from './visible-text.ts'

export type Colour = keyof typeof COLOURS

export interface Style {
  readonly bold?: boolean
  readonly dim?: boolean
  readonly italic?: boolean
  readonly underline?: boolean
  readonly strike?: boolean
  readonly colour?: Colour
}

/** Visible text in one style. Styles become escape sequences only in `painted`, so measuring never meets any. */
export interface Span {
  readonly text: string
  readonly style: Style
}

/** What stands in one line of the terminal, without its newline. */
export type Line = readonly Span[]

export const PLAIN: Style = {}

/**
 * Cells that a line takes, tabs included. Where terminals differ (skin tones, letters built of parts) it is the most that
 * one of them takes: a line that is too short does no harm, one that is too long moves everything below it.
 */
export function lineWidth(line: Line): number {
  return widthOf(cellsOf(line))
}

export function cellWidth(text: string): number {
  return lineWidth([{ text, style: PLAIN }])
}

/**
 * The line broken so that no part is wider than `columns`: between words where that is possible, within a word that is
 * longer, never within a grapheme. A grapheme that alone is wider than `columns` becomes `?`. Spaces at a break are
 * dropped, `\n` breaks, tabs become spaces.
 */
export function wrapped(line: Line, columns: number): Line[] {
  return broken(cellsOf(line), columns, true).map((cells) => spansOf(withoutTrailing(cells)))
}

/** As `wrapped`, and every space stays: for code, and whatever else must be shown as it is. */
export function wrappedVerbatim(line: Line, columns: number): Line[] {
  return broken(cellsOf(line), columns, false).map(spansOf)
}

/**
 * What is written to the terminal. Every style ends with its span; without `colour` there are none. Whoever made the
 * spans, no other escape sequence and no control passes.
 */
export function painted(line: Line, colour: boolean): string {
  return line.map(({ text, style }) => paintedSpan(visibleLine(text), style, colour)).join('')
}

const COLOURS = { red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const
const TAB = 4
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{DI}]$/u
const EMOJI_STYLE = '\ufe0f'
const ASCII = /^[\n\t\x20-\x7e]*$/
const WINDOW = 256
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

function paintedSpan(text: string, style: Style, colour: boolean): string {
  const codes = codesOf(style)
  return !colour || codes === '' || text === '' ? text : `\u001b[${codes}m${text}\u001b[0m`
}

function codesOf({ bold, dim, italic, underline, strike, colour }: Style): string {
  const codes: (number | false | undefined)[] = [
    bold && 1,
    dim && 2,
    italic && 3,
    underline && 4,
    strike && 9,
    colour && COLOURS[colour],
  ]
  return codes.filter((code) => typeof code === 'number').join(';')
}

/** A grapheme, and the marks of a following span that would stand on it. */
interface Cell {
  text: string
  readonly width: number
  readonly style: Style
}

function cellsOf(line: Line): Cell[] {
  const cells: Cell[] = []
  let column = 0
  for (const { text, style } of line) {
    for (const grapheme of ASCII.test(text) ? text : graphemesOf(text)) {
      const width = grapheme === '\t' ? TAB - (column % TAB) : graphemeWidth(grapheme)
      const last = cells.at(-1)
      if (grapheme === '\t') for (let i = 0; i < width; i++) cells.push(space(style))
      else if (width > 0 || grapheme === '\n' || last === undefined || last.text === '\n') {
        cells.push({ text: grapheme, width, style })
      } else last.text += grapheme
      column = grapheme === '\n' ? 0 : column + width
    }
  }
  return cells
}

/**
 * Graphemes, found in a window at a time, because the segmenter takes time that grows with the square of its text. The
 * last one of a window may go on behind it, so it begins the next. No window ends within a surrogate pair.
 */
function* graphemesOf(text: string): Iterable<string> {
  let size = WINDOW
  for (let at = 0; at < text.length;) {
    const half = /[\ud800-\udbff]/.test(text.charAt(at + size - 1)) ? 1 : 0
    const window = text.slice(at, at + size + half)
    let last = ''
    for (const { segment } of segmenter.segment(window)) {
      if (last !== '') yield last
      at += last.length
      last = segment
    }
    const isWhole = at + last.length === text.length
    if (isWhole) yield last
    if (isWhole) return
    size = last === window ? size * 2 : WINDOW
  }
}

function space(style: Style): Cell {
  return { text: ' ', width: 1, style }
}

function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= ' ' && grapheme <= '~') return 1
  let width = 0
  for (const sign of grapheme) {
    if (!ZERO_WIDTH.test(sign)) width += eastAsianWidth(sign.codePointAt(0) ?? 0)
  }
  return width === 1 && grapheme.includes(EMOJI_STYLE) ? 2 : width
}

/** With `hanging`, spaces that do not fit stay at the end of their line instead of beginning the next. */
function broken(cells: readonly Cell[], columns: number, hanging: boolean): Cell[][] {
  const lines: Cell[][] = []
  let line: Cell[] = []
  let width = 0
  // Where this line may be broken; 0 where it may not.
  let place = 0
  for (const whole of cells) {
    const cell = fitting(whole, columns)
    const isSpace = cell.text === ' '
    if (cell.width > 1) place = line.length
    const breaks = cell.text === '\n'
    if (breaks || (width + cell.width > columns && line.length > 0 && !(isSpace && hanging))) {
      const at = breaks || place === 0 ? line.length : place
      lines.push(line.slice(0, at))
      line = line.slice(at)
      width = widthOf(line)
      place = 0
    }
    if (breaks) continue
    line.push(cell)
    width += cell.width
    if (isSpace || cell.width > 1) place = line.length
  }
  return [...lines, line]
}

function fitting(cell: Cell, columns: number): Cell {
  return cell.width <= Math.max(1, columns) ? cell : { text: '?', width: 1, style: cell.style }
}

function withoutTrailing(cells: readonly Cell[]): readonly Cell[] {
  return cells.slice(0, cells.findLastIndex(({ text }) => text !== ' ') + 1)
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0)
}

function spansOf(cells: readonly Cell[]): Line {
  const spans: { text: string; readonly style: Style }[] = []
  for (const { text, style } of cells) {
    const last = spans.at(-1)
    if (last !== undefined && isSame(last.style, style)) last.text += text
    else spans.push({ text, style })
  }
  return spans
}

function isSame(one: Style, other: Style): boolean {
  return one === other || codesOf(one) === codesOf(other)
}
