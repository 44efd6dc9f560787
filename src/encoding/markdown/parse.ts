import { Lexer, Tokenizer, type MarkedToken, type Token, type Tokens } from 'marked'
import type {
  MarkdownBlock,
  MarkdownCell,
  MarkdownList,
  MarkdownSpan,
  MarkdownTable,
} from './tree.ts'

/** `undefined` if the lexer fails: no input may crash the program. */
export function parsedMarkdown(source: string): MarkdownBlock[] | undefined {
  try {
    const lexer = new BoundedLexer({ gfm: true, tokenizer: new BoundedTokenizer() })
    return blocksOf(lexer.lex(source))
  } catch {
    return undefined
  }
}

/** Deeper quotes, lists and emphasis become text: the lexer is recursive, for some quotes twice per level. */
const DEEPEST = 8
/** Longer paragraphs get no inline formatting, which takes quadratic time to find. */
const LONGEST_PARAGRAPH = 4_096

class Depth {
  #now = 0

  /** `undefined` if the depth limit is reached. */
  within<T>(lex: () => T): T | undefined {
    if (this.#now >= DEEPEST) return undefined
    this.#now += 1
    try {
      return lex()
    } finally {
      this.#now -= 1
    }
  }
}

class BoundedLexer extends Lexer {
  readonly #depth = new Depth()

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const isShort = src.length <= LONGEST_PARAGRAPH
    const done = isShort ? this.#depth.within(() => super.inlineTokens(src, tokens)) : undefined
    if (done === undefined) tokens.push({ type: 'text', raw: src, text: src })
    return tokens
  }
}

class BoundedTokenizer extends Tokenizer {
  readonly #depth = new Depth()

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#depth.within(() => super.blockquote(src))
  }

  override list(src: string): Tokens.List | undefined {
    return this.#depth.within(() => super.list(src))
  }
}

function blocksOf(tokens: readonly Token[]): MarkdownBlock[] {
  return tokens.flatMap((token) => blockOf(knownToken(token)) ?? [])
}

function blockOf(token: MarkedToken): MarkdownBlock | undefined {
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return undefined
    case 'heading':
      return { kind: 'heading', depth: token.depth, content: spansOf(token.tokens) }
    case 'code':
      return { kind: 'code', info: token.lang ?? '', text: token.text }
    case 'blockquote':
      return { kind: 'quote', blocks: blocksOf(token.tokens) }
    case 'list':
      return listOf(token)
    case 'table':
      return tableOf(token)
    case 'hr':
      return { kind: 'rule' }
    case 'html':
    case 'def':
      return { kind: 'verbatim', text: withoutLastNewlines(token.raw) }
    case 'paragraph':
      return { kind: 'paragraph', content: spansOf(token.tokens) }
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
      return { kind: 'text', content: spansOf([token]) }
  }
}

function listOf({ ordered, start, loose, items }: Tokens.List): MarkdownList {
  return {
    kind: 'list',
    start: ordered ? Number(start) : undefined,
    loose,
    items: items.map((item) => ({
      done: item.task ? item.checked === true : undefined,
      loose: item.loose,
      blocks: blocksOf(item.tokens),
    })),
  }
}

function cellsOf(cells: readonly Tokens.TableCell[]): MarkdownCell[] {
  return cells.map(({ tokens }) => spansOf(tokens))
}

function tableOf({ header, rows, align, raw }: Tokens.Table): MarkdownTable {
  return {
    kind: 'table',
    header: cellsOf(header),
    rows: rows.map(cellsOf),
    align,
    source: withoutLastNewlines(raw),
  }
}

function spansOf(tokens: readonly Token[]): MarkdownSpan[] {
  return tokens.flatMap((token) => spanOf(knownToken(token)))
}

function spanOf(token: MarkedToken): MarkdownSpan | MarkdownSpan[] {
  switch (token.type) {
    case 'text':
      return token.tokens === undefined ? { kind: 'text', text: token.text } : spansOf(token.tokens)
    case 'escape':
      return { kind: 'text', text: token.text }
    case 'strong':
    case 'em':
    case 'del':
      return { kind: token.type, content: spansOf(token.tokens) }
    case 'codespan':
      return { kind: 'code', text: token.text }
    case 'link':
      return { kind: 'link', href: token.href, text: token.text, content: spansOf(token.tokens) }
    case 'image':
      return { kind: 'image', href: token.href, description: token.text }
    case 'br':
      return { kind: 'break' }
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
      return { kind: 'text', text: token.raw }
  }
}

function withoutLastNewlines(text: string): string {
  return text.replace(/\n+$/, '')
}

/** The lexer creates no other types without extensions; an unknown one is shown verbatim. */
function knownToken(token: Token): MarkedToken {
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
