import type { MarkedToken, Token, Tokens } from 'marked'
import { lexedMarkdown, markdownPieces, type MarkdownPiece } from '../text/markdown.ts'
import { knownToken } from '../text/markdown-tokens.ts'
import { visibleText } from '../text/visible-text.ts'
import { escaped, verbatimHtml } from './html-text.ts'

/**
 * Markdown as HTML. Every text is escaped and no HTML of the source passes: it is shown as text, like images, of which only
 * the description and the address are shown. Links have a target only if it is a web or mail address. Pure.
 */
export function markdownHtml(text: string): string {
  return markdownPieces(text).map(pieceHtml).join('')
}

function pieceHtml(piece: MarkdownPiece): string {
  if (piece.kind === 'literal') return verbatimHtml(piece.text)
  if (piece.kind === 'code') return codeHtml(piece.text)
  const tokens = lexedMarkdown(piece.source)
  return tokens === undefined ? verbatimHtml(piece.source) : blocksHtml(tokens)
}

function blocksHtml(tokens: readonly Token[]): string {
  return tokens.map((token) => blockHtml(knownToken(token))).join('')
}

function blockHtml(token: MarkedToken): string {
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return ''
    case 'heading': {
      // The page itself has three levels.
      const tag = `h${Math.min(6, token.depth + 3)}`
      return `<${tag}>${inlineHtml(token.tokens)}</${tag}>\n`
    }
    case 'code':
      return codeHtml(token.text)
    case 'blockquote':
      return `<blockquote>\n${blocksHtml(token.tokens)}</blockquote>\n`
    case 'list':
      return listHtml(token)
    case 'table':
      return tableHtml(token)
    case 'hr':
      return '<hr>\n'
    case 'html':
    case 'def':
      return verbatimHtml(token.raw.replace(/\n+$/, ''))
    case 'paragraph':
      return `<p>${inlineHtml(token.tokens)}</p>\n`
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
      return `${inlineHtml([token])}\n`
  }
}

function codeHtml(text: string): string {
  return `<pre class="code" tabindex="0">\n${leaf(text)}</pre>\n`
}

function listHtml({ ordered, start, items }: Tokens.List): string {
  const tag = ordered ? 'ol' : 'ul'
  const first = ordered && typeof start === 'number' && start !== 1 ? ` start="${start}"` : ''
  const all = items.map(({ task, checked, tokens }) => {
    const box = task ? `[${checked === true ? 'x' : ' '}] ` : ''
    return `<li>${box}${blocksHtml(tokens)}</li>\n`
  })
  return `<${tag}${first}>\n${all.join('')}</${tag}>\n`
}

function tableHtml({ header, rows }: Tokens.Table): string {
  const body = rows.map((cells) => rowHtml(cells, 'td')).join('')
  const head = rowHtml(header, 'th')
  return `<table>\n<thead>\n${head}</thead>\n<tbody>\n${body}</tbody>\n</table>\n`
}

function rowHtml(cells: readonly Tokens.TableCell[], tag: 'td' | 'th'): string {
  return `<tr>${cells.map(({ tokens }) => `<${tag}>${inlineHtml(tokens)}</${tag}>`).join('')}</tr>\n`
}

function inlineHtml(tokens: readonly Token[]): string {
  return tokens.map((token) => spanHtml(knownToken(token))).join('')
}

function spanHtml(token: MarkedToken): string {
  switch (token.type) {
    case 'text':
      return token.tokens === undefined ? leaf(token.text) : inlineHtml(token.tokens)
    case 'escape':
      return leaf(token.text)
    case 'strong':
    case 'em':
    case 'del':
      return `<${token.type}>${inlineHtml(token.tokens)}</${token.type}>`
    case 'codespan':
      return `<code>${leaf(token.text)}</code>`
    case 'link':
      return linkHtml(token)
    case 'image':
      return `${leaf(`[image: ${token.text}]`)}${address(token.href, '')}`
    case 'br':
      return '<br>\n'
    case 'checkbox':
    case 'space':
      return ''
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
      return leaf(token.raw)
  }
}

/** The address is always shown, so that no text can pretend to be another one. */
function linkHtml({ href, text, tokens }: Tokens.Link): string {
  const shown = inlineHtml(tokens)
  const isSafe = SAFE_ADDRESS.test(href) && visibleText(href) === href
  const link = isSafe ? `<a href="${escaped(href)}" rel="noopener noreferrer">${shown}</a>` : shown
  return `${link}${address(href, text)}`
}

const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)[^\s]+$/i

function address(href: string, text: string): string {
  const isObvious = href === '' || href === text || href === `mailto:${text}`
  return isObvious ? '' : ` (${leaf(href)})`
}

/** The lexer decodes character references, so its output is made visible again. */
function leaf(text: string): string {
  return escaped(visibleText(text))
}
