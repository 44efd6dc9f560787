import type { InputRichBlock, RichText } from 'grammy/types'
import type {
  MarkdownBlock,
  MarkdownItem,
  MarkdownSpan,
  MarkdownTable,
} from '../../encoding/markdown/tree.ts'
import { shownAddress } from '../../encoding/markdown/tree.ts'
import { answerBlocks, languageOf, shownLine } from './formatted-text.ts'
import { PLATFORM } from './protocol.ts'

export type RichBlock = InputRichBlock

/**
 * An answer as the blocks of one rich message, with notes after it; `undefined` if it is too large for one. Never made from the
 * Markdown or HTML text itself, which would give a model all that Telegram can do. Pure.
 */
export function richBlocks(
  markdown: string,
  notes: readonly string[],
): readonly RichBlock[] | undefined {
  const blocks: RichBlock[] = [
    ...answerBlocks(markdown).map(richBlock),
    ...notes.map((text): RichBlock => ({ type: 'paragraph', text: shownLine(text) })),
  ]
  const size = sizeOf(blocks)
  const fits =
    size.count > 0 &&
    size.characters > 0 &&
    size.count <= PLATFORM.rich_blocks &&
    size.characters <= PLATFORM.rich_characters &&
    size.levels <= PLATFORM.rich_levels
  return fits ? blocks : undefined
}

function richBlock(block: MarkdownBlock): RichBlock {
  switch (block.kind) {
    case 'heading':
      return { type: 'heading', size: headingSize(block.depth), text: richSpans(block.content) }
    case 'paragraph':
    case 'text':
      return { type: 'paragraph', text: richSpans(block.content) }
    case 'code':
      return { type: 'pre', text: block.text, ...languageOf(block.info) }
    case 'quote':
      return { type: 'blockquote', blocks: block.blocks.map(richBlock) }
    case 'list':
      return {
        type: 'list',
        items: block.items.map((item, at) => ({
          blocks: item.blocks.map(richBlock),
          ...taskOf(item),
          ...(block.start === undefined ? {} : { value: block.start + at, type: '1' as const }),
        })),
      }
    case 'table':
      return richTable(block)
    case 'rule':
      return { type: 'divider' }
    case 'verbatim':
      return { type: 'paragraph', text: block.text }
    default:
      return block satisfies never
  }
}

function headingSize(level: number): 1 | 2 | 3 | 4 | 5 | 6 {
  return SIZES.find((size) => size === level) ?? 6
}
const SIZES = [1, 2, 3, 4, 5, 6] as const

function taskOf({ done }: MarkdownItem): { has_checkbox?: true; is_checked?: true } {
  if (done === undefined) return {}
  return done ? { has_checkbox: true, is_checked: true } : { has_checkbox: true }
}

function richTable({ header, rows, align, source }: MarkdownTable): RichBlock {
  if (header.length > PLATFORM.table_columns) return { type: 'pre', text: source.trimEnd() }
  const cells = [header, ...rows].map((row, line) =>
    row.map((cell, at) => ({
      text: richSpans(cell),
      align: align[at] ?? ('left' as const),
      valign: 'top' as const,
      ...(line === 0 ? { is_header: true as const } : {}),
    })),
  )
  return { type: 'table', cells, is_bordered: true }
}

function richSpans(spans: readonly MarkdownSpan[]): RichText {
  const texts = spans.map(richSpan)
  return texts.length === 1 && texts[0] !== undefined ? texts[0] : texts
}

function richSpan(span: MarkdownSpan): RichText {
  switch (span.kind) {
    case 'text':
      return span.text
    case 'code':
      return { type: 'code', text: span.text }
    case 'strong':
      return { type: 'bold', text: richSpans(span.content) }
    case 'em':
      return { type: 'italic', text: richSpans(span.content) }
    case 'del':
      return { type: 'strikethrough', text: richSpans(span.content) }
    case 'break':
      return '\n'
    case 'link':
      return withAddress(richSpans(span.content), shownAddress(span))
    case 'image':
      return withAddress(span.description, shownAddress(span))
    default:
      return span satisfies never
  }
}

/** The address is always visible, so that no text can pretend to lead elsewhere. */
function withAddress(text: RichText, address: string | undefined): RichText {
  return address === undefined ? text : [text, ` (${address})`]
}

interface Size {
  readonly count: number
  readonly characters: number
  readonly levels: number
}

/** Counts as Telegram does: items of lists and rows of tables are blocks, too. */
function sizeOf(blocks: readonly RichBlock[]): Size {
  const sizes = blocks.map((block): Size => {
    if (block.type === 'blockquote') return within(sizeOf(block.blocks))
    if (block.type === 'list')
      return within(sum(block.items.map(({ blocks: inner }) => within(sizeOf(inner)))))
    if (block.type === 'table') {
      const texts = block.cells.flat().map(({ text = '' }) => text)
      const characters = texts.reduce<number>((total, text) => total + length(text), 0)
      return { count: 1 + block.cells.length, characters, levels: 2 + deepest(texts) }
    }
    if (block.type !== 'paragraph' && block.type !== 'heading' && block.type !== 'pre')
      return { count: 1, characters: 0, levels: 1 }
    return { count: 1, characters: length(block.text), levels: 1 + depth(block.text) }
  })
  return sum(sizes)
}

function within({ count, characters, levels }: Size): Size {
  return { count: count + 1, characters, levels: levels + 1 }
}

function sum(sizes: readonly Size[]): Size {
  return {
    count: sizes.reduce((total, { count }) => total + count, 0),
    characters: sizes.reduce((total, { characters }) => total + characters, 0),
    levels: sizes.reduce((most, { levels }) => Math.max(most, levels), 0),
  }
}

/** In characters, not UTF-16 units. */
function length(text: RichText): number {
  if (typeof text === 'string') return Array.from(text).length
  if (Array.isArray(text)) return text.reduce((total, one) => total + length(one), 0)
  return 'text' in text ? length(text.text) : 0
}

function depth(text: RichText): number {
  if (typeof text === 'string') return 0
  if (Array.isArray(text)) return deepest(text)
  return 'text' in text ? 1 + depth(text.text) : 1
}

function deepest(texts: readonly RichText[]): number {
  return texts.reduce<number>((most, one) => Math.max(most, depth(one)), 0)
}
