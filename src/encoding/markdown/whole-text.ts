import { BlockCutter, LONGEST_BLOCK, type Piece } from './block-cutter.ts'
import { parsedMarkdown } from './parse.ts'
import type { MarkdownBlock } from './tree.ts'

/** Source for the lexer, or a block that needs none. */
type Part = { readonly kind: 'source'; readonly source: string } | VerbatimBlock
type VerbatimBlock = Extract<MarkdownBlock, { kind: 'code' | 'verbatim' }>

/**
 * The blocks of a whole text; each line passes through `shown` before it is parsed. Neighbouring blocks are lexed together, so
 * that the items of a list are one list, as far as the limit of the lexer allows.
 */
export function markdownBlocks(text: string, shown: (line: string) => string): MarkdownBlock[] {
  const cutter = new BlockCutter()
  const pieces = text.split('\n').flatMap((line) => cutter.take(sourceLine(line, shown)))
  return joinPieces([...pieces, ...cutter.close()]).flatMap((part) =>
    part.kind === 'source' ? (parsedMarkdown(part.source) ?? verbatim(part.source)) : part,
  )
}

/** A line may end with CRLF; any other carriage return is left to `shown`. */
export function sourceLine(line: string, shown: (line: string) => string): string {
  return shown(line.endsWith('\r') ? line.slice(0, -1) : line)
}

function joinPieces(pieces: readonly Piece[]): Part[] {
  const parts: Part[] = []
  for (const piece of pieces) {
    const last = parts.at(-1)
    const next = partAfter(last, piece)
    if (last !== undefined && next.joins) parts.pop()
    parts.push(next.part)
  }
  return parts
}

/** The part that the piece makes; `joins` if it replaces the last one. */
function partAfter(last: Part | undefined, piece: Piece): { part: Part; joins: boolean } {
  switch (piece.kind) {
    case 'blocks':
    case 'item': {
      const gap = piece.kind === 'blocks' || piece.isSpaced ? '\n\n' : '\n'
      const source = last?.kind === 'source' ? `${last.source}${gap}${piece.source}` : ''
      const joins = source !== '' && source.length <= LONGEST_BLOCK
      return { part: { kind: 'source', source: joins ? source : piece.source }, joins }
    }
    case 'fence':
      return { part: { kind: 'code', info: piece.language, text: '' }, joins: false }
    case 'code':
      return last?.kind === 'code'
        ? { part: { ...last, text: below(last.text, piece.text) }, joins: true }
        : { part: { kind: 'code', info: '', text: piece.text }, joins: false }
    case 'literal':
      return last?.kind === 'verbatim' && !piece.begins
        ? { part: verbatim(below(last.text, piece.text)), joins: true }
        : { part: verbatim(piece.text), joins: false }
  }
}

function below(text: string, line: string): string {
  return text === '' ? line : `${text}\n${line}`
}

function verbatim(text: string): VerbatimBlock {
  return { kind: 'verbatim', text }
}
