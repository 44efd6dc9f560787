import {
  shownAddress,
  type MarkdownBlock,
  type MarkdownList,
  type MarkdownSpan,
  type MarkdownTable,
} from '../../../encoding/markdown/tree.ts'
import { markdownBlocks } from '../../../encoding/markdown/whole-text.ts'
import { visibleText } from '../text/visible-text.ts'
import { codeSpan, escapedText, codeBlock } from './markdown-text.ts'

/**
 * Markdown of a person or a model as Markdown that is safe to view: its paragraphs, lists, tables, code and emphasis, and nothing
 * that a viewer would load, run or follow. Links and images are text with their address as code, HTML is code, and headings are
 * below those of the document. Ends with a newline unless it is empty. Pure.
 */
export function safeMarkdown(text: string): string {
  return blocksText(markdownBlocks(text, visibleText))
}

function blocksText(blocks: readonly MarkdownBlock[]): string {
  return blocks
    .map(blockText)
    .filter((block) => block !== '')
    .join('\n')
}

function blockText(block: MarkdownBlock): string {
  switch (block.kind) {
    case 'heading': {
      // The document itself has three levels.
      const marks = '#'.repeat(Math.min(6, block.depth + 3))
      return `${marks} ${spansText(block.content).replaceAll(/\s+/g, ' ')}\n`
    }
    case 'code':
      return codeBlock(block.text, /^[\w+#-]{1,20}$/.exec(block.info)?.[0] ?? 'text')
    case 'quote':
      return behind('> ', '> ', blocksText(block.blocks))
    case 'list':
      return listText(block)
    case 'table':
      return tableText(block)
    case 'rule':
      return '* * *\n'
    case 'verbatim':
      return codeBlock(block.text, 'text')
    case 'paragraph':
    case 'text':
      return paragraph(spansText(block.content))
  }
}

/** No line of it begins a block. */
function paragraph(text: string): string {
  const lines = text.split('\n').map((line) =>
    line
      .trimStart()
      .replace(/^[-+=]/, String.raw`\$&`)
      .replace(/^(\d+)([.)])/, String.raw`$1\$2`),
  )
  const shown = lines.filter((line) => line !== '').join('\n')
  return shown === '' ? '' : `${shown}\n`
}

function listText({ start, items }: MarkdownList): string {
  return items
    .map(({ done, blocks }, at) => {
      const mark = start === undefined ? '- ' : `${start + at}. `
      const box = done === undefined ? '' : `${escapedText(`[${done ? 'x' : ' '}]`)} `
      const content = blocksText(blocks)
      return behind(mark, ' '.repeat(mark.length), `${box}${content === '' ? '\n' : content}`)
    })
    .join('')
}

/** The lines of a block after a mark. */
function behind(first: string, others: string, block: string): string {
  const lines = block.replace(/\n$/, '').split('\n')
  return lines
    .map((line, at) => {
      const mark = at === 0 ? first : others
      return `${line === '' ? mark.trimEnd() : `${mark}${line}`}\n`
    })
    .join('')
}

/** A bar ends a cell, even within code: a table with one in its content is shown as it was written. */
function tableText({ header, rows, source }: MarkdownTable): string {
  const all = [header, ...rows].map((cells) =>
    cells.map((cell) => spansText(cell).replaceAll(/\s+/g, ' ')),
  )
  if (all.flat().some((text) => text.includes('|'))) return codeBlock(source, 'text')
  const [first = '', ...others] = all.map((texts) => `| ${texts.join(' | ')} |\n`)
  return [first, `|${' --- |'.repeat(header.length)}\n`, ...others].join('')
}

function spansText(content: readonly MarkdownSpan[]): string {
  return content.map(spanText).join('')
}

function spanText(span: MarkdownSpan): string {
  switch (span.kind) {
    case 'text':
      return escapedText(span.text)
    case 'strong':
      return `**${spansText(span.content)}**`
    case 'em':
      return `*${spansText(span.content)}*`
    case 'del':
      return `~~${spansText(span.content)}~~`
    case 'code':
      return codeSpan(span.text)
    case 'link':
      return `${spansText(span.content)}${address(shownAddress(span))}`
    case 'image':
      return `${escapedText(`[image: ${span.description}]`)}${address(shownAddress(span))}`
    case 'break':
      return '\\\n'
  }
}

function address(href: string | undefined): string {
  return href === undefined ? '' : ` (${codeSpan(href)})`
}
