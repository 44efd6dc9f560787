import { BlockCutter, LONGEST_BLOCK, type Piece } from '../../../encoding/markdown/block-cutter.ts'
import { parsedMarkdown } from '../../../encoding/markdown/parse.ts'
import { sourceLine } from '../../../encoding/markdown/whole-text.ts'
import type { Line } from './cell-width.ts'
import { codeBegun, type OpenCode } from './code-colours.ts'
import { blockLines, codeLines, fenceLines, listLines, literalLines } from './markdown-lines.ts'
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
      const lines = this.#show(this.#cutter.take(sourceLine(this.#rest.join(''), visibleText)))
      this.#rest = [next]
      return lines
    })
  }

  /** A preview of the open block as if nothing followed; for a very long line, only its end. */
  pending(): Line[] {
    const cutter = this.#cutter.copy()
    const rest = endOf(this.#rest, LONGEST_BLOCK)
    const pieces = [
      ...(rest === '' ? [] : cutter.take(sourceLine(rest, visibleText))),
      ...cutter.close(),
    ]
    return placePieces(pieces, this.#place, this.#columns).lines
  }

  /** The lines of the open block. Call it once; no `push` may follow. */
  end(): Line[] {
    const rest = this.#rest.join('')
    const pieces = rest === '' ? [] : this.#cutter.take(sourceLine(rest, visibleText))
    return this.#show([...pieces, ...this.#cutter.close()])
  }

  #show(pieces: readonly Piece[]): Line[] {
    const { lines, place } = placePieces(pieces, this.#place, this.#columns)
    this.#place = place
    return lines
  }
}

/** The context above the next piece. */
interface Place {
  readonly hasBegun: boolean
  /** A blank line must precede the next line. */
  readonly due: boolean
  /** The list that an item may continue. */
  readonly list: { readonly mark: string; readonly next: number } | undefined
  /** The fenced code that a line may continue. */
  readonly code: OpenCode
}

const START: Place = { hasBegun: false, due: false, list: undefined, code: codeBegun('') }

interface RenderResult {
  readonly lines: readonly Line[]
  /** It starts a new block. */
  readonly apart: boolean
  readonly list?: Place['list']
  readonly code?: OpenCode
}

function placePieces(pieces: readonly Piece[], start: Place, columns: number) {
  const lines: Line[] = []
  let place = start
  for (const piece of pieces) {
    const shown = shownPiece(piece, place, columns)
    const due = place.due || (shown.apart && place.hasBegun)
    const isEmpty = shown.lines.length === 0
    if (due && !isEmpty) lines.push([])
    for (const line of shown.lines) lines.push(line)
    const { list, code = place.code } = shown
    place = { hasBegun: place.hasBegun || !isEmpty, due: due && isEmpty, list, code }
  }
  return { lines, place }
}

function shownPiece(piece: Piece, { list, code }: Place, columns: number): RenderResult {
  switch (piece.kind) {
    case 'blocks':
      return { lines: blocksOf(piece.source, columns), apart: true }
    case 'item':
      return shownItem(piece.source, piece.isSpaced, list, columns)
    case 'fence':
      return {
        lines: fenceLines(piece.language, columns),
        apart: true,
        code: codeBegun(piece.language),
      }
    case 'code': {
      const { lines, open } = codeLines(piece.text, code, columns)
      return { lines, apart: false, code: open }
    }
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
  const [first, ...others] = parsedMarkdown(source) ?? []
  if (first?.kind !== 'list') return { lines: blocksOf(source, columns), apart: true }
  const mark = /[-+*.)]/.exec(source)?.[0] ?? ''
  const goesOn = above?.mark === mark
  const start = goesOn ? above.next : (first.start ?? 0)
  const after = blockLines(others, columns)
  return {
    lines: [...listLines(first, start, columns), ...(after.length === 0 ? [] : [[], ...after])],
    apart: spaced || !goesOn,
    list: after.length === 0 ? { mark, next: start + first.items.length } : undefined,
  }
}

function blocksOf(source: string, columns: number): Line[] {
  const blocks = parsedMarkdown(source)
  return blocks === undefined ? literalLines(source, columns) : blockLines(blocks, columns)
}

/** The last pieces with at least `length` characters. */
function endOf(pieces: readonly string[], length: number): string {
  let [from, size] = [pieces.length, 0]
  while (from > 0 && size <= length) size += pieces[--from]?.length ?? 0
  return pieces.slice(from).join('')
}
