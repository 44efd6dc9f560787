import {
  shownAddress,
  type MarkdownBlock,
  type MarkdownList,
  type MarkdownSpan,
} from '../../../encoding/markdown/tree.ts'
import {
  cellWidth,
  PLAIN,
  wrapLine,
  wrappedVerbatim,
  type Line,
  type Span,
  type Style,
} from './cell-width.ts'
import { codeBegun, codeLine, type OpenCode } from './code-colours.ts'
import { tableLines } from './table-lines.ts'
import { visibleText } from './visible-text.ts'

/** Formats blocks as lines no wider than `columns`, separated by blank lines unless `close`. */
export function blockLines(
  blocks: readonly MarkdownBlock[],
  columns: number,
  close = false,
): Line[] {
  return blocks
    .map((block) => linesOf(block, columns))
    .filter((lines) => lines.length > 0)
    .flatMap((lines, at) => (at === 0 || close ? lines : [[], ...lines]))
}

/** Formats list items, numbered from `start`. */
export function listLines(list: MarkdownList, start: number, columns: number): Line[] {
  return list.items.flatMap(({ done, loose, blocks }, at) => {
    const mark = markOf(list.start === undefined ? undefined : start + at, done)
    const lines = behind(mark, columns, (rest) => blockLines(blocks, rest, !loose))
    return at > 0 && list.loose ? [[], ...lines] : lines
  })
}

/** The first line of fenced code: its language, if given. */
export function fenceLines(language: string, columns: number): Line[] {
  return language === '' ? [] : wrapLine([{ text: visibleText(language), style: DIM }], columns)
}

/** A line of code in its colours, without anything before it, so that a selection is the code. */
export function codeLines(
  text: string,
  open: OpenCode,
  columns: number,
): { readonly lines: Line[]; readonly open: OpenCode } {
  const { line, open: next } = codeLine(visibleText(text), open)
  return { lines: wrappedVerbatim(line, columns), open: next }
}

/** Verbatim text. */
export function literalLines(text: string, columns: number): Line[] {
  return wrappedVerbatim([leaf(text, PLAIN)], columns)
}

const DIM: Style = { dim: true }
const LONGEST_RULE = 40
/** With fewer columns left, text goes below its mark and has no gutter. */
const NARROWEST = 10

function linesOf(block: MarkdownBlock, columns: number): Line[] {
  switch (block.kind) {
    case 'heading':
      return wrapLine(spans(block.content, HEADINGS[block.depth - 1] ?? LOWEST_HEADING), columns)
    case 'code':
      return wholeCode(block.info.split(/\s/, 1)[0] ?? '', block.text, columns)
    case 'quote':
      return besides('> ', columns, (rest) => blockLines(block.blocks, rest))
    case 'list':
      return listLines(block, block.start ?? 0, columns)
    case 'table': {
      const [header, ...rows] = [block.header, ...block.rows].map((cells) =>
        cells.map((cell) => spans(cell, PLAIN)),
      )
      return tableLines({ header: header ?? [], rows, align: block.align }, columns)
    }
    case 'rule':
      return [[leaf('─'.repeat(Math.min(columns, LONGEST_RULE)), DIM)]]
    case 'verbatim':
      return literalLines(block.text, columns)
    case 'paragraph':
    case 'text':
      return wrapLine(spans(block.content, PLAIN), columns)
  }
}

const HEADINGS: readonly Style[] = [{ bold: true, underline: true }, { bold: true }]
const LOWEST_HEADING: Style = { bold: true, italic: true }

function wholeCode(language: string, text: string, columns: number): Line[] {
  let open = codeBegun(language)
  const lines = text.split('\n').flatMap((one) => {
    const shown = codeLines(one, open, columns)
    open = shown.open
    return shown.lines
  })
  return [...fenceLines(language, columns), ...lines]
}

/** Of a task, its box is the mark. */
function markOf(number: number | undefined, done: boolean | undefined): Span {
  const box = done === undefined ? '' : `[${done ? 'x' : ' '}] `
  const text = (number === undefined ? (box === '' ? '- ' : '') : `${number}. `) + box
  return leaf(text, done === true ? { colour: 'green' } : PLAIN)
}

function spans(content: readonly MarkdownSpan[], style: Style): Span[] {
  return content.flatMap((span) => spansOf(span, style)).filter(({ text }) => text !== '')
}

function spansOf(span: MarkdownSpan, style: Style): Span[] {
  switch (span.kind) {
    case 'text':
      return [flowing(span.text, style)]
    case 'strong':
      return spans(span.content, { ...style, bold: true })
    case 'em':
      return spans(span.content, { ...style, italic: true })
    case 'del':
      return spans(span.content, { ...style, strike: true })
    case 'code':
      return [flowing(span.text, { ...style, colour: 'cyan' })]
    case 'link':
      return withLink(span.href, [
        ...spans(span.content, { ...style, underline: true }),
        ...address(shownAddress(span), style),
      ])
    case 'image':
      return withLink(span.href, [
        flowing(`[image: ${span.description}]`, style),
        ...address(shownAddress(span), style),
      ])
    case 'break':
      return [leaf('\n', style)]
  }
}

/** Only addresses that a browser or a mail program opens. */
function withLink(href: string, content: readonly Span[]): Span[] {
  if (!/^(?:https?:\/\/|mailto:)[\x21-\x7e]+$/i.test(href)) return [...content]
  return content.map(({ text, style }) => ({ text, style: { ...style, link: href } }))
}

function address(href: string | undefined, style: Style): Span[] {
  return href === undefined ? [] : [flowing(` (${href})`, { ...style, dim: true })]
}

/** A newline within a paragraph becomes a space, including the indentation after it. */
function flowing(text: string, style: Style): Span {
  return leaf(text.replaceAll(/ ?\n[ \t]*/g, ' '), style)
}

/** The lexer decodes character references, so its output is escaped again. */
function leaf(text: string, style: Style): Span {
  return { text: visibleText(text), style }
}

/** Lines after a mark that appears once. */
function behind(mark: Span, columns: number, render: (columns: number) => Line[]): Line[] {
  const width = cellWidth(mark.text)
  if (columns - width < NARROWEST) return [...wrapLine([mark], columns), ...render(columns)]
  const [first = [], ...others] = render(columns - width)
  return [
    [mark, ...first],
    ...others.map((line) => (line.length === 0 ? line : [leaf(' '.repeat(width), PLAIN), ...line])),
  ]
}

/** Lines with a gutter before each. */
function besides(gutter: string, columns: number, render: (columns: number) => Line[]): Line[] {
  const width = cellWidth(gutter)
  if (columns - width < NARROWEST) return render(columns)
  return render(columns - width).map((line) => [leaf(gutter, DIM), ...line])
}
