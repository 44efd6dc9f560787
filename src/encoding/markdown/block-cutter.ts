/** A part of a Markdown text that later text cannot change. */
export type Piece =
  /** Complete blocks, for the lexer. */
  | { readonly kind: 'blocks'; readonly source: string }
  /** One list item, for the lexer; `isSpaced` if a blank line precedes it. */
  | { readonly kind: 'item'; readonly source: string; readonly isSpaced: boolean }
  /** The start of fenced code; its lines follow one by one. */
  | { readonly kind: 'fence'; readonly language: string }
  | { readonly kind: 'code'; readonly text: string }
  /** Verbatim text: HTML, or what is too long for the lexer. `begins` marks its first line. */
  | { readonly kind: 'literal'; readonly text: string; readonly begins: boolean }

/** Longer blocks are shown verbatim, because the lexer takes quadratic time on hostile text. */
export const LONGEST_BLOCK = 16_384
/** The maximum number of cells of a table: the lexer creates all of them, even those missing in the text. */
const MOST_CELLS = 10_000

/**
 * Splits Markdown into pieces by lines: a piece is returned once the line after it is known, a line of fenced code or
 * HTML immediately. In doubt it does not split, and the lexer decides.
 */
export class BlockCutter {
  #open: Open | undefined
  /** Blank lines since the last line of the open block. */
  #blank = 0

  /** Takes one line, without its newline. */
  take(line: string): Piece[] {
    const open = this.#open
    if (open?.kind === 'fence') return this.#inFence(line, open)
    if (open?.kind === 'html') return this.#inHtml(line, open, false)
    if (isBlank(line)) {
      this.#blank += 1
      return []
    }
    const begun = blockAt(line, open, this.#blank > 0)
    if (begun === undefined) {
      const pieces = this.#append(line)
      return isUnderline(line) && open?.kind === 'text' ? [...pieces, ...this.close()] : pieces
    }
    return [...this.close(), ...this.#begin(line, begun)]
  }

  /** Ends the open block. */
  close(): Piece[] {
    const open = this.#open
    this.#open = undefined
    this.#blank = 0
    return open === undefined || open.kind === 'fence' || open.kind === 'html' ? [] : closeRun(open)
  }

  copy(): BlockCutter {
    const copy = new BlockCutter()
    const open = this.#open
    copy.#open = open !== undefined && 'lines' in open ? { ...open, lines: [...open.lines] } : open
    copy.#blank = this.#blank
    return copy
  }

  #begin(line: string, begun: Open): Piece[] {
    this.#open = begun
    if (begun.kind === 'fence') return [{ kind: 'fence', language: begun.language }]
    if (begun.kind === 'html') return this.#inHtml(line, begun, true)
    const pieces = this.#append(line)
    return begun.kind === 'single' ? [...pieces, ...this.close()] : pieces
  }

  #append(line: string): Piece[] {
    const run = this.#open
    if (run === undefined || !('lines' in run)) return []
    run.size += this.#blank + line.length + 1
    for (; this.#blank > 0; this.#blank -= 1) run.lines.push('')
    run.lines.push(line)
    if (run.size <= LONGEST_BLOCK) return []
    const begins = !run.long
    run.long = true
    return [{ kind: 'literal', text: run.lines.splice(0).join('\n'), begins }]
  }

  #inFence(line: string, { mark, indent }: Fence): Piece[] {
    const body = line.trim()
    const closes = body.startsWith(mark) && body === mark.charAt(0).repeat(body.length)
    if (!closes || indentOf(line) > DEEPEST_INDENT) {
      return [{ kind: 'code', text: line.slice(Math.min(indent, line.search(/[^ ]|$/))) }]
    }
    this.#open = undefined
    return []
  }

  #inHtml(line: string, { end }: Html, begins: boolean): Piece[] {
    if (end.test(line)) this.#open = undefined
    return [{ kind: 'literal', text: line, begins }]
  }
}

/** Text blocks, a block of a single line, or a list item: lines that are collected until another block begins. */
interface Run {
  readonly kind: 'text' | 'single' | 'item'
  /** Lines with at least this indentation belong to the item. */
  readonly offset: number
  readonly isSpaced: boolean
  readonly lines: string[]
  size: number
  /** Too long for the lexer: its lines are already returned verbatim. */
  long: boolean
}

interface Fence {
  readonly kind: 'fence'
  readonly mark: string
  readonly indent: number
  readonly language: string
}

interface Html {
  readonly kind: 'html'
  readonly end: RegExp
}

type Open = Run | Fence | Html

const DEEPEST_INDENT = 3
const HEADING = /^#{1,6}(?:[ \t]|$)/
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^ \t]*)/
const RULE = /^(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$/
const MARKER = /^([-+*]|(\d{1,9})[.)])(?:([ \t]+)(?=[^ \t])|[ \t]*$)/

/** HTML blocks that can contain blank lines, with the patterns of their end. */
const HTML: readonly (readonly [RegExp, RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![A-Za-z]/, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
]

/** The block that this line starts; `undefined` if it continues the open one. */
function blockAt(line: string, open: Open | undefined, spaced: boolean): Open | undefined {
  const run = open !== undefined && 'lines' in open ? open : undefined
  const indent = indentOf(line)
  const body = line.trim()
  if (indent <= DEEPEST_INDENT && (run?.kind !== 'item' || indent < run.offset)) {
    const isRule = RULE.test(body)
    // After text it is an underline, or the rule that ends the text.
    if (isRule && run?.kind === 'text' && !spaced) return undefined
    if (isRule || HEADING.test(body)) return runOf('single', 0, spaced)
    const fence = FENCE.exec(body)
    if (fence) return { kind: 'fence', mark: fence[1] ?? '', indent, language: fence[2] ?? '' }
    const html = HTML.find(([start]) => start.test(body))
    if (html) return { kind: 'html', end: html[1] }
    const item = itemAt(body, indent, spaced)
    if (item && (item.interrupts || spaced || run?.kind !== 'text')) return item.run
  }
  const ends = spaced && indent < (run?.kind === 'item' ? run.offset : DEEPEST_INDENT + 1)
  return run === undefined || ends ? runOf('text', 0, spaced) : undefined
}

/** `interrupts`: it ends a paragraph even without a blank line. */
function itemAt(body: string, indent: number, spaced: boolean) {
  const marker = MARKER.exec(body)
  if (marker === null) return undefined
  const [, sign = '', number, space] = marker
  const after = indent + sign.length
  const gap = space === undefined ? 1 : columnsOf(space, after)
  return {
    run: runOf('item', after + (gap > DEEPEST_INDENT + 1 ? 1 : gap), spaced),
    interrupts: space !== undefined && (number === undefined || number === '1'),
  }
}

function runOf(kind: Run['kind'], offset: number, isSpaced: boolean): Run {
  return { kind, offset, isSpaced, lines: [], size: 0, long: false }
}

function closeRun({ kind, lines, isSpaced, long }: Run): Piece[] {
  if (long) return []
  const source = lines.join('\n')
  if (cellsOf(lines) > MOST_CELLS) return [{ kind: 'literal', text: source, begins: true }]
  return kind === 'item' ? [{ kind, source, isSpaced }] : [{ kind: 'blocks', source }]
}

function cellsOf(lines: readonly string[]): number {
  return lines.length * Math.max(...lines.map((line) => line.split('|').length - 1))
}

/** The underline of a heading, or a rule. */
function isUnderline(line: string): boolean {
  const body = line.trim()
  return indentOf(line) <= DEEPEST_INDENT && (RULE.test(body) || /^(?:=+|-+)$/.test(body))
}

function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line)
}

function indentOf(line: string): number {
  return columnsOf(/^[ \t]*/.exec(line)?.[0] ?? '', 0)
}

/** The width of white space that starts at a column; a tab extends to the next multiple of four. */
function columnsOf(space: string, from: number): number {
  let column = from
  for (const sign of space) column += sign === '\t' ? 4 - (column % 4) : 1
  return column - from
}
