import { markdownBlocks } from '../../encoding/markdown/whole-text.ts'
import {
  shownAddress,
  type MarkdownBlock,
  type MarkdownList,
  type MarkdownSpan,
} from '../../encoding/markdown/tree.ts'
import { PLATFORM } from './protocol.ts'

/** A part of a text that is shown differently. Offset and length count UTF-16 units. */
export interface TextEntity {
  readonly type: 'bold' | 'italic' | 'strikethrough' | 'code' | 'pre' | 'blockquote'
  readonly offset: number
  readonly length: number
  readonly language?: string
}

/** Text with its formatting beside it, so that nothing in the text can be markup. */
export interface FormattedText {
  readonly text: string
  readonly entities: readonly TextEntity[]
}

/** The paragraphs of an answer in Markdown. Pure. */
export function formattedParagraphs(markdown: string): readonly FormattedText[] {
  return answerBlocks(markdown)
    .map((block) => trimText(blockText(block)))
    .filter(isShown)
}

/** The blocks of an answer. Controls and characters that reorder text are removed. Pure. */
export function answerBlocks(markdown: string): readonly MarkdownBlock[] {
  return markdownBlocks(markdown, shownLine)
}

/** Text without formatting. Pure. */
export function plainParagraph(text: string): FormattedText {
  return { text: text.split('\n').map(shownLine).join('\n'), entities: [] }
}

/** Without what moves, hides or reorders text. */
export function shownLine(line: string): string {
  return line
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\t]/gu, '')
    .replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g, '')
}

/** Texts with a blank line between them. */
export function joinTexts(texts: readonly FormattedText[], between = '\n\n'): FormattedText {
  let text = ''
  const entities: TextEntity[] = []
  for (const [at, one] of texts.entries()) {
    if (at > 0) text += between
    const start = text.length
    for (const entity of one.entities) entities.push({ ...entity, offset: entity.offset + start })
    text += one.text
  }
  return { text, entities: entities.slice(0, PLATFORM.entities) }
}

function isShown({ text }: FormattedText): boolean {
  return text.trim() !== ''
}

/** Telegram removes white space at both ends, and then the entities would be displaced. */
function trimText(whole: FormattedText): FormattedText {
  const start = whole.text.length - whole.text.trimStart().length
  return part(whole, start, whole.text.trimEnd().length)
}

/** A part of a text, with the entities that are in it. */
export function part({ text, entities }: FormattedText, from: number, to: number): FormattedText {
  return {
    text: text.slice(from, to),
    entities: entities.flatMap((entity) => {
      const start = Math.max(entity.offset, from)
      const end = Math.min(entity.offset + entity.length, to)
      return end > start ? [{ ...entity, offset: start - from, length: end - start }] : []
    }),
  }
}

function blockText(block: MarkdownBlock): FormattedText {
  switch (block.kind) {
    case 'heading':
      return withEntity('bold', spansText(block.content))
    case 'paragraph':
    case 'text':
      return spansText(block.content)
    case 'code':
      return withEntity('pre', plain(block.text), languageOf(block.info))
    case 'quote':
      return withEntity('blockquote', joinTexts(withoutQuotes(block.blocks)))
    case 'list':
      return listText(block)
    case 'table':
      return withEntity('pre', plain(block.source.trimEnd()))
    case 'rule':
      return plain('———')
    case 'verbatim':
      return plain(block.text)
    default:
      return block satisfies never
  }
}

/** A quote in a quote is not possible. */
function withoutQuotes(blocks: readonly MarkdownBlock[]): FormattedText[] {
  return blocks.map((block) => {
    const text = blockText(block)
    return { ...text, entities: text.entities.filter(({ type }) => type !== 'blockquote') }
  })
}

function listText({ start, loose, items }: MarkdownList): FormattedText {
  const texts = items.map(({ done, blocks }, at) => {
    const sign = start === undefined ? '•' : `${start + at}.`
    const box = done === undefined ? '' : done ? ' ☑' : ' ☐'
    const content = joinTexts(blocks.map(blockText), '\n')
    return joinTexts([plain(`${sign}${box} `), indentLines(content)], '')
  })
  return joinTexts(texts, loose ? '\n\n' : '\n')
}

/** Lines after the first are indented. */
function indentLines({ text, entities }: FormattedText): FormattedText {
  const breaks = [...text.matchAll(/\n/g)].map(({ index }) => index)
  const shift = (at: number) => at + INDENT.length * breaks.filter((one) => one < at).length
  return {
    text: text.replaceAll('\n', `\n${INDENT}`),
    entities: entities.map((entity) => {
      const offset = shift(entity.offset)
      return { ...entity, offset, length: shift(entity.offset + entity.length) - offset }
    }),
  }
}

const INDENT = '  '

function spansText(spans: readonly MarkdownSpan[]): FormattedText {
  return joinTexts(spans.map(spanText), '')
}

function spanText(span: MarkdownSpan): FormattedText {
  switch (span.kind) {
    case 'text':
      return plain(span.text)
    case 'code':
      return withEntity('code', plain(span.text))
    case 'strong':
      return withEntity('bold', spansText(span.content))
    case 'em':
      return withEntity('italic', spansText(span.content))
    case 'del':
      return withEntity('strikethrough', spansText(span.content))
    case 'break':
      return plain('\n')
    case 'link':
      return withAddress(spansText(span.content), shownAddress(span))
    case 'image':
      return withAddress(plain(span.description), shownAddress(span))
    default:
      return span satisfies never
  }
}

/** The address is always visible, so that no text can pretend to lead elsewhere. */
function withAddress(text: FormattedText, address: string | undefined): FormattedText {
  return address === undefined ? text : joinTexts([text, plain(` (${address})`)], '')
}

function withEntity(
  type: TextEntity['type'],
  inner: FormattedText,
  more: Pick<TextEntity, 'language'> = {},
): FormattedText {
  const { text } = inner
  if (text === '') return inner
  const isCode = type === 'code' || type === 'pre'
  const entity = { type, offset: 0, length: text.length, ...more }
  return { text, entities: [entity, ...(isCode ? [] : inner.entities)] }
}

function plain(text: string): FormattedText {
  return { text, entities: [] }
}

/** The first word after a fence, if it looks like the name of a language. */
export function languageOf(info: string): { readonly language?: string } {
  const [language] = /^[A-Za-z0-9_+#.-]{1,32}(?=\s|$)/.exec(info) ?? []
  return language === undefined ? {} : { language }
}
