import {
  shownAddress,
  type MarkdownBlock,
  type MarkdownCell,
  type MarkdownLink,
  type MarkdownList,
  type MarkdownSpan,
  type MarkdownTable,
} from '../../../encoding/markdown/tree.ts'
import { markdownBlocks } from '../../../encoding/markdown/whole-text.ts'
import { visibleText } from '../text/visible-text.ts'
import { escapeHtml, verbatimHtml } from './html-text.ts'

/**
 * Markdown as HTML. Every text is escaped and no HTML of the source passes: it is shown as text, like images, of which only
 * the description and the address are shown. Links have a target only if it is a web or mail address. Pure.
 */
export function markdownHtml(text: string): string {
  return blocksHtml(markdownBlocks(text, visibleText))
}

function blocksHtml(blocks: readonly MarkdownBlock[]): string {
  return blocks.map(blockHtml).join('')
}

function blockHtml(block: MarkdownBlock): string {
  switch (block.kind) {
    case 'heading': {
      // The page itself has three levels.
      const tag = `h${Math.min(6, block.depth + 3)}`
      return `<${tag}>${spansHtml(block.content)}</${tag}>\n`
    }
    case 'code':
      return codeHtml(block.text)
    case 'quote':
      return `<blockquote>\n${blocksHtml(block.blocks)}</blockquote>\n`
    case 'list':
      return listHtml(block)
    case 'table':
      return tableHtml(block)
    case 'rule':
      return '<hr>\n'
    case 'verbatim':
      return verbatimHtml(block.text)
    case 'paragraph':
      return `<p>${spansHtml(block.content)}</p>\n`
    case 'text':
      return `${spansHtml(block.content)}\n`
  }
}

function codeHtml(text: string): string {
  return `<pre class="code" tabindex="0">\n${leaf(text)}</pre>\n`
}

function listHtml({ start, items }: MarkdownList): string {
  const tag = start === undefined ? 'ul' : 'ol'
  const first = start === undefined || start === 1 ? '' : ` start="${start}"`
  const all = items.map(({ done, blocks }) => {
    const box = done === undefined ? '' : `[${done ? 'x' : ' '}] `
    return `<li>${box}${blocksHtml(blocks)}</li>\n`
  })
  return `<${tag}${first}>\n${all.join('')}</${tag}>\n`
}

function tableHtml({ header, rows }: MarkdownTable): string {
  const body = rows.map((cells) => rowHtml(cells, 'td')).join('')
  const head = rowHtml(header, 'th')
  return `<table>\n<thead>\n${head}</thead>\n<tbody>\n${body}</tbody>\n</table>\n`
}

function rowHtml(cells: readonly MarkdownCell[], tag: 'td' | 'th'): string {
  return `<tr>${cells.map((cell) => `<${tag}>${spansHtml(cell)}</${tag}>`).join('')}</tr>\n`
}

function spansHtml(content: readonly MarkdownSpan[]): string {
  return content.map(spanHtml).join('')
}

function spanHtml(span: MarkdownSpan): string {
  switch (span.kind) {
    case 'text':
      return leaf(span.text)
    case 'strong':
    case 'em':
    case 'del':
      return `<${span.kind}>${spansHtml(span.content)}</${span.kind}>`
    case 'code':
      return `<code>${leaf(span.text)}</code>`
    case 'link':
      return `${linkHtml(span)}${address(shownAddress(span))}`
    case 'image':
      return `${leaf(`[image: ${span.description}]`)}${address(shownAddress(span))}`
    case 'break':
      return '<br>\n'
  }
}

function linkHtml({ href, content }: MarkdownLink): string {
  const shown = spansHtml(content)
  const isSafe = SAFE_ADDRESS.test(href) && visibleText(href) === href
  return isSafe ? `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${shown}</a>` : shown
}

const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)[^\s]+$/i

function address(href: string | undefined): string {
  return href === undefined ? '' : ` (${leaf(href)})`
}

/** The lexer decodes character references, so its output is made visible again. */
function leaf(text: string): string {
  return escapeHtml(visibleText(text))
}
