import { Lexer, type Token, type Tokens, Tokenizer } from 'marked'
import type { Line } from './cell-width.ts'
import { BlockCutter, LONGEST_BLOCK, type Piece } from './markdown-blocks.ts'
import { blockLines, codeLines, fenceLines, listLines, literalLines } from './markdown-tokens.ts'
import { visibleText } from './visible-text.ts'

/**
 * Formats streamed Markdown as lines no wider than `columns`. Lines from `push` are final: together with `end` they are
 * the same however the input is split. Each block is lexed once, when it is complete; reference definitions apply
 * within their block and are shown. All text is made visible before it is parsed.
 */
export class MarkdownStream {
  readonly #columns: number
  readonly #cutter = new BlockCutter()
  /** Parts of the incomplete line. */
  #rest: string[] = []
  #place: Place = START

  constructor(columns: number) {
    this.#columns = Math.max(1, columns)
  }

  /** Returns the lines that became final. */
  push(text: string): Line[] {
    const [first = '', ...others] = text.split('\n')
    this.#rest.push(first)
    return others.flatMap((next) => {
      const lines = this.#show(this.#cutter.take(sourceLine(this.#rest.join(''))))
      this.#rest = [next]
      return lines
    })
  }

  /** A preview of the open block as if nothing followed; for a very long line, only its end. */
  pending(): Line[] {
    const cutter = this.#cutter.copy()
    const rest = endOf(this.#rest, LONGEST_BLOCK)
    const pieces = [...(rest === '' ? [] : cutter.take(sourceLine(rest))), ...cutter.close()]
    return placed(pieces, this.#place, this.#columns).lines
  }

  /** The lines of the open block. Call it once; no `push` may follow. */
  end(): Line[] {
    const rest = this.#rest.join('')
    const pieces = rest === '' ? [] : this.#cutter.take(sourceLine(rest))
    return this.#show([...pieces, ...this.#cutter.close()])
  }

  #show(pieces: readonly Piece[]): Line[] {
    const { lines, place } = placed(pieces, this.#place, this.#columns)
    this.#place = place
    return lines
  }
}

/** A part of a whole text: source for the lexer, the content of a fence, or verbatim text. */
export type MarkdownPiece =
  | { readonly kind: 'source'; readonly source: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: string }

/**
 * Splits a whole text. Neighbouring blocks stay together, so that the items of a list are lexed as one, as far as the limit of
 * the lexer allows. All text is made visible.
 */
export function markdownPieces(text: string): MarkdownPiece[] {
  const cutter = new BlockCutter()
  const pieces = text.split('\n').flatMap((line) => cutter.take(sourceLine(line)))
  const joined: MarkdownPiece[] = []
  for (const piece of [...pieces, ...cutter.close()]) {
    const last = joined.at(-1)
    if (piece.kind === 'blocks' || piece.kind === 'item') {
      const gap = piece.kind === 'blocks' || piece.spaced ? '\n\n' : '\n'
      const source = last?.kind === 'source' ? `${last.source}${gap}${piece.source}` : ''
      if (source === '' || source.length > LONGEST_BLOCK)
        joined.push({ kind: 'source', source: piece.source })
      else joined.splice(-1, 1, { kind: 'source', source })
    } else if (piece.kind === 'fence') joined.push({ kind: 'code', text: '' })
    else if (last?.kind === piece.kind && !(piece.kind === 'literal' && piece.begins))
      joined.splice(-1, 1, {
        kind: piece.kind,
        text: last.text === '' ? piece.text : `${last.text}\n${piece.text}`,
      })
    else joined.push({ kind: piece.kind, text: piece.text })
  }
  return joined
}

/** The context above the next piece. */
interface Place {
  readonly begun: boolean
  /** A blank line must precede the next line. */
  readonly due: boolean
  /** The list that an item may continue. */
  readonly list: { readonly mark: string; readonly next: number } | undefined
}

const START: Place = { begun: false, due: false, list: undefined }

interface RenderResult {
  readonly lines: readonly Line[]
  /** It starts a new block. */
  readonly apart: boolean
  readonly list?: Place['list']
}

function placed(pieces: readonly Piece[], start: Place, columns: number) {
  const lines: Line[] = []
  let place = start
  for (const piece of pieces) {
    const shown = shownPiece(piece, place.list, columns)
    const due = place.due || (shown.apart && place.begun)
    const isEmpty = shown.lines.length === 0
    if (due && !isEmpty) lines.push([])
    for (const line of shown.lines) lines.push(line)
    place = { begun: place.begun || !isEmpty, due: due && isEmpty, list: shown.list }
  }
  return { lines, place }
}

function shownPiece(piece: Piece, list: Place['list'], columns: number): RenderResult {
  switch (piece.kind) {
    case 'blocks':
      return { lines: blocksOf(piece.source, columns), apart: true }
    case 'item':
      return shownItem(piece.source, piece.spaced, list, columns)
    case 'fence':
      return { lines: fenceLines(piece.language, columns), apart: true }
    case 'code':
      return { lines: codeLines(piece.text, columns), apart: false }
    case 'literal':
      return { lines: literalLines(piece.text, columns), apart: piece.begins }
  }
}

/** An item with the same mark as the list above continues its numbering, as if both were lexed together. */
function shownItem(
  source: string,
  spaced: boolean,
  above: Place['list'],
  columns: number,
): RenderResult {
  const [first, ...others] = lexedMarkdown(source) ?? []
  if (first === undefined || !isList(first)) {
    return { lines: blocksOf(source, columns), apart: true }
  }
  const mark = /[-+*.)]/.exec(source)?.[0] ?? ''
  const goesOn = above?.mark === mark
  const start = goesOn ? above.next : Number(first.start)
  const after = blockLines(others, columns)
  return {
    lines: [...listLines(first, start, columns), ...(after.length === 0 ? [] : [[], ...after])],
    apart: spaced || !goesOn,
    list: after.length === 0 ? { mark, next: start + first.items.length } : undefined,
  }
}

function isList(token: Token): token is Tokens.List {
  return token.type === 'list'
}

function blocksOf(source: string, columns: number): Line[] {
  const tokens = lexedMarkdown(source)
  return tokens === undefined ? literalLines(source, columns) : blockLines(tokens, columns)
}

/** `undefined` if the lexer fails: no input may crash the program. */
export function lexedMarkdown(source: string): Token[] | undefined {
  try {
    return new BoundedLexer({ gfm: true, tokenizer: new BoundedTokenizer() }).lex(source)
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

/** A line may end with CRLF; any other carriage return is shown. */
function sourceLine(line: string): string {
  return visibleText(line.endsWith('\r') ? line.slice(0, -1) : line)
}

/** The last pieces with at least `length` characters. */
function endOf(pieces: readonly string[], length: number): string {
  let [from, size] = [pieces.length, 0]
  while (from > 0 && size <= length) size += pieces[--from]?.length ?? 0
  return pieces.slice(from).join('')
}
