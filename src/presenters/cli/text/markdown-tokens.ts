import type { MarkedToken, Token, Tokens } from 'marked'
import {
  cellWidth,
  PLAIN,
  wrapped,
  wrappedVerbatim,
  type Line,
  type Span,
  type Style,
} from './cell-width.ts'
import { tableLines } from './table-lines.ts'
import { visibleText } from './visible-text.ts'

/** Formats blocks as lines no wider than `columns`, separated by blank lines unless `close`. */
export function blockLines(tokens: readonly Token[], columns: number, close = false): Line[] {
  return tokens
    .map((token) => linesOf(knownToken(token), columns))
    .filter((lines) => lines.length > 0)
    .flatMap((lines, at) => (at === 0 || close ? lines : [[], ...lines]))
}

/** Formats list items, numbered from `start`. */
export function listLines(list: Tokens.List, start: number, columns: number): Line[] {
  return list.items.flatMap((item, at) => {
    const task = item.task ? `[${item.checked === true ? 'x' : ' '}] ` : ''
    const mark = (list.ordered ? `${start + at}. ` : '- ') + task
    const lines = behind(mark, columns, (rest) => blockLines(item.tokens, rest, !item.loose))
    return at > 0 && list.loose ? [[], ...lines] : lines
  })
}

/** The first line of fenced code: its language, if given. */
export function fenceLines(language: string, columns: number): Line[] {
  return language === ''
    ? []
    : wrapped([{ text: `┌ ${visibleText(language)}`, style: DIM }], columns)
}

/** Verbatim code behind a gutter. */
export function codeLines(text: string, columns: number): Line[] {
  return besides('│ ', columns, (rest) => literalLines(text, rest))
}

/** Verbatim text. */
export function literalLines(text: string, columns: number): Line[] {
  return wrappedVerbatim([leaf(text, PLAIN)], columns)
}

const DIM: Style = { dim: true }
const LONGEST_RULE = 40
/** With fewer columns left, text goes below its mark and has no gutter. */
const NARROWEST = 10

function linesOf(token: MarkedToken, columns: number): Line[] {
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return []
    case 'heading':
      return wrapped(
        [leaf(`${'#'.repeat(token.depth)} `, BOLD), ...inlineSpans(token.tokens, BOLD)],
        columns,
      )
    case 'code':
      return [...fenceLines(languageOf(token), columns), ...codeLines(token.text, columns)]
    case 'blockquote':
      return besides('> ', columns, (rest) => blockLines(token.tokens, rest))
    case 'list':
      return listLines(token, Number(token.start), columns)
    case 'table':
      return tableLines(
        {
          header: token.header.map((cell) => inlineSpans(cell.tokens, PLAIN)),
          rows: token.rows.map((row) => row.map((cell) => inlineSpans(cell.tokens, PLAIN))),
          align: token.align,
        },
        columns,
      )
    case 'hr':
      return [[leaf('─'.repeat(Math.min(columns, LONGEST_RULE)), DIM)]]
    case 'html':
    case 'def':
      return literalLines(token.raw.replace(/\n+$/, ''), columns)
    case 'paragraph':
      return wrapped(inlineSpans(token.tokens, PLAIN), columns)
    case 'text':
    case 'br':
    case 'codespan':
    case 'del':
    case 'em':
    case 'escape':
    case 'image':
    case 'link':
    case 'list_item':
    case 'strong':
      return wrapped(inlineSpans([token], PLAIN), columns)
  }
}

const BOLD: Style = { bold: true }

function inlineSpans(tokens: readonly Token[], style: Style): Span[] {
  return tokens
    .flatMap((token) => spansOf(knownToken(token), style))
    .filter(({ text }) => text !== '')
}

function spansOf(token: MarkedToken, style: Style): Span[] {
  switch (token.type) {
    case 'text':
      return token.tokens === undefined
        ? [flowing(token.text, style)]
        : inlineSpans(token.tokens, style)
    case 'escape':
      return [flowing(token.text, style)]
    case 'strong':
      return inlineSpans(token.tokens, { ...style, bold: true })
    case 'em':
      return inlineSpans(token.tokens, { ...style, italic: true })
    case 'del':
      return inlineSpans(token.tokens, { ...style, strike: true })
    case 'codespan':
      return [flowing(token.text, { ...style, colour: 'cyan' })]
    case 'link':
      return [
        ...inlineSpans(token.tokens, { ...style, underline: true }),
        ...target(token.href, token.text, style),
      ]
    case 'image':
      return [flowing(`[image: ${token.text}]`, style), ...target(token.href, '', style)]
    case 'br':
      return [leaf('\n', style)]
    case 'checkbox':
    case 'space':
      return []
    case 'blockquote':
    case 'code':
    case 'def':
    case 'heading':
    case 'hr':
    case 'html':
    case 'list':
    case 'list_item':
    case 'paragraph':
    case 'table':
      return [flowing(token.raw, style)]
  }
}

/** The full target of a link, unless it equals its text. */
function target(href: string, text: string, style: Style): Span[] {
  const isObvious = href === '' || href === text || href === `mailto:${text}`
  return isObvious ? [] : [flowing(` (${href})`, { ...style, dim: true })]
}

/** A newline within a paragraph becomes a space, including the indentation after it. */
function flowing(text: string, style: Style): Span {
  return leaf(text.replaceAll(/ ?\n[ \t]*/g, ' '), style)
}

/** The lexer decodes character references, so its output is escaped again. */
function leaf(text: string, style: Style): Span {
  return { text: visibleText(text), style }
}

function languageOf({ lang = '' }: Tokens.Code): string {
  return lang.split(/\s/, 1)[0] ?? ''
}

/** Lines after a mark that appears once. */
function behind(mark: string, columns: number, render: (columns: number) => Line[]): Line[] {
  const width = cellWidth(mark)
  if (columns - width < NARROWEST)
    return [...wrapped([leaf(mark, PLAIN)], columns), ...render(columns)]
  const [first = [], ...others] = render(columns - width)
  return [
    [leaf(mark, PLAIN), ...first],
    ...others.map((line) => (line.length === 0 ? line : [leaf(' '.repeat(width), PLAIN), ...line])),
  ]
}

/** Lines with a gutter before each. */
function besides(gutter: string, columns: number, render: (columns: number) => Line[]): Line[] {
  const width = cellWidth(gutter)
  if (columns - width < NARROWEST) return render(columns)
  return render(columns - width).map((line) => [leaf(gutter, DIM), ...line])
}

/** The lexer creates no other types without extensions; an unknown one is shown verbatim. */
export function knownToken(token: Token): MarkedToken {
  return isKnown(token) ? token : { type: 'text', raw: token.raw, text: token.raw }
}

function isKnown(token: Token): token is MarkedToken {
  return TYPES.has(token.type)
}

const TYPES: ReadonlySet<string> = new Set<MarkedToken['type']>([
  ...(['blockquote', 'br', 'checkbox', 'code', 'codespan', 'def', 'del', 'em'] as const),
  ...(['escape', 'heading', 'hr', 'html', 'image', 'link', 'list', 'list_item'] as const),
  ...(['paragraph', 'space', 'strong', 'table', 'text'] as const),
])
