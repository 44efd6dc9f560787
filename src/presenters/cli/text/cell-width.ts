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
  /** Marks what changed within a line. */
  readonly change?: 'added' | 'removed'
  /** The address that a click opens, where the terminal can. */
  readonly link?: string
}

/** How styles become escape sequences. */
export interface Palette {
  /** The parameters of SGR for a style; empty for none. */
  readonly codes: (style: Style) => string
  /** The terminal opens links (OSC 8). */
  readonly links: boolean
}

/**
 * Visible text in one style. Only `paintLine` converts styles to escape sequences, so measured text never contains any.
 */
export interface Span {
  readonly text: string
  readonly style: Style
}

/** One line of the terminal, without its newline. */
export type Line = readonly Span[]

export const PLAIN: Style = {}

/**
 * The width of a line in cells, including tabs. Where terminals differ (skin tones, composed letters), the maximum: a
 * line that is too short does no harm, one that is too long shifts everything below it.
 */
export function lineWidth(line: Line): number {
  return widthOf(cellsOf(line))
}

export function cellWidth(text: string): number {
  return lineWidth([{ text, style: PLAIN }])
}

/**
 * Wraps a line to `columns`: between words if possible, within longer words, never within a grapheme. A grapheme wider
 * than `columns` becomes `?`. Spaces at a break are dropped, `\n` breaks, tabs become spaces.
 */
export function wrapLine(line: Line, columns: number): Line[] {
  return breakLines(cellsOf(line), columns, true).map((cells) => spansOf(withoutTrailing(cells)))
}

/** Like `wrapLine`, but keeps all spaces, for code and output. */
export function wrappedVerbatim(line: Line, columns: number): Line[] {
  return breakLines(cellsOf(line), columns, false).map(spansOf)
}

/**
 * The bytes for the terminal, in the colours of a palette; `true` is that of every terminal. Every style ends with its
 * span; with `false` there are none. No other escape sequence or control character passes, whatever the spans contain.
 */
export function paintLine(line: Line, colour: boolean | Palette): string {
  const palette = colour === true ? EVERYWHERE : colour
  return line.map(({ text, style }) => paintedSpan(visibleLine(text), style, palette)).join('')
}

/** Lines as text for the terminal. */
export function terminalText(lines: readonly Line[], colour: boolean | Palette): string {
  return lines.map((line) => `${paintLine(line, colour)}\n`).join('')
}

const COLOURS = {
  red: '31',
  green: '32',
  yellow: '33',
  blue: '34',
  magenta: '35',
  cyan: '36',
} as const
const TAB = 4
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{DI}]$/u
const EMOJI_STYLE = '\ufe0f'
const ASCII = /^[\n\t\x20-\x7e]*$/
const WINDOW = 256
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The parameters of SGR for a style, with these colours. */
export function sgr(
  { bold, dim, italic, underline, strike, colour, change }: Style,
  colours: Readonly<Record<Colour, string>>,
  changes: Readonly<Record<'added' | 'removed', string>>,
): string {
  const codes = [
    bold && '1',
    dim && '2',
    italic && '3',
    underline && '4',
    strike && '9',
    colour && colours[colour],
    change && changes[change],
  ]
  return codes.filter((code) => typeof code === 'string' && code !== '').join(';')
}

/** The colours that every terminal has; a change within a line is inverse. */
const EVERYWHERE: Palette = {
  codes: (style) => sgr(style, COLOURS, { added: '7', removed: '7' }),
  links: false,
}

function paintedSpan(text: string, style: Style, palette: Palette | false): string {
  if (palette === false || text === '') return text
  const codes = palette.codes(style)
  const styled = codes === '' ? text : `\u001b[${codes}m${text}\u001b[0m`
  const { link } = style
  if (link === undefined || !palette.links) return styled
  return `\u001b]8;;${visibleLine(link)}\u001b\\${styled}\u001b]8;;\u001b\\`
}

/** A grapheme, with the combining marks of a following span that would attach to it. */
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
 * Splits into graphemes window by window, because the segmenter takes quadratic time. The last grapheme of a window may
 * continue beyond it, so the next window starts with it. No window ends within a surrogate pair.
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

/** With `hanging`, spaces that do not fit stay at the end of their line instead of starting the next. */
function breakLines(cells: readonly Cell[], columns: number, hanging: boolean): Cell[][] {
  const lines: Cell[][] = []
  let line: Cell[] = []
  let width = 0
  // Where this line may be broken; 0 if nowhere.
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
  if (one === other) return true
  return EVERYWHERE.codes(one) === EVERYWHERE.codes(other) && one.link === other.link
}
