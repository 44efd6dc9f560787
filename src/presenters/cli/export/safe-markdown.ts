import type { MarkedToken, Token, Tokens } from 'marked'
import { lexedMarkdown, markdownPieces, type MarkdownPiece } from '../text/markdown.ts'
import { knownToken } from '../text/markdown-tokens.ts'
import { codeSpan, escapedText, fenced } from './markdown-text.ts'

/**
 * Markdown of a person or a model as Markdown that is safe to view: its paragraphs, lists, tables, code and emphasis, and nothing
 * that a viewer would load, run or follow. Links and images are text with their address as code, HTML is code, and headings are
 * below those of the document. Ends with a newline unless it is empty. Pure.
 */
export function safeMarkdown(text: string): string {
  return separated(markdownPieces(text).map(pieceText))
}

function pieceText(piece: MarkdownPiece): string {
  if (piece.kind === 'code') return fenced(piece.text, 'text')
  const source = piece.kind === 'literal' ? piece.text : piece.source
  const tokens = piece.kind === 'literal' ? undefined : lexedMarkdown(source)
  return tokens === undefined ? fenced(source, 'text') : blocksText(tokens)
}

function blocksText(tokens: readonly Token[]): string {
  return separated(tokens.map((token) => blockText(knownToken(token))))
}

function separated(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n')
}

function blockText(token: MarkedToken): string {
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return ''
    case 'heading': {
      // The document itself has three levels.
      const marks = '#'.repeat(Math.min(6, token.depth + 3))
      return `${marks} ${inlineText(token.tokens).replaceAll(/\s+/g, ' ')}\n`
    }
    case 'code':
      return fenced(token.text, /^[\w+#-]{1,20}$/.exec(token.lang ?? '')?.[0] ?? 'text')
    case 'blockquote':
      return behind('> ', '> ', blocksText(token.tokens))
    case 'list':
      return listText(token)
    case 'table':
      return tableText(token)
    case 'hr':
      return '* * *\n'
    case 'html':
    case 'def':
      return fenced(token.raw.replace(/\n+$/, ''), 'text')
    case 'paragraph':
      return paragraph(inlineText(token.tokens))
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
      return paragraph(inlineText([token]))
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

function listText({ ordered, start, items }: Tokens.List): string {
  const first = typeof start === 'number' ? start : 1
  return items
    .map(({ task, checked, tokens }, at) => {
      const mark = ordered ? `${first + at}. ` : '- '
      const box = task ? `${escapedText(`[${checked === true ? 'x' : ' '}]`)} ` : ''
      const content = blocksText(tokens)
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
function tableText({ header, rows, raw }: Tokens.Table): string {
  const all = [header, ...rows].map((cells) =>
    cells.map(({ tokens }) => inlineText(tokens).replaceAll(/\s+/g, ' ')),
  )
  if (all.flat().some((text) => text.includes('|'))) return fenced(raw.replace(/\n+$/, ''), 'text')
  const [first = '', ...others] = all.map((texts) => `| ${texts.join(' | ')} |\n`)
  return [first, `|${' --- |'.repeat(header.length)}\n`, ...others].join('')
}

function inlineText(tokens: readonly Token[]): string {
  const texts = tokens.map((token) => spanText(knownToken(token)))
  // Adjacent runs of backticks would be one, which no longer ends the code before it.
  return texts.reduce((all, text) => {
    return all.endsWith('`') && text.startsWith('`') ? `${all} ${text}` : all + text
  }, '')
}

function spanText(token: MarkedToken): string {
  switch (token.type) {
    case 'text':
      return token.tokens === undefined ? escapedText(token.text) : inlineText(token.tokens)
    case 'escape':
      return escapedText(token.text)
    case 'strong':
      return `**${inlineText(token.tokens)}**`
    case 'em':
      return `*${inlineText(token.tokens)}*`
    case 'del':
      return `~~${inlineText(token.tokens)}~~`
    case 'codespan':
      return codeSpan(token.text)
    case 'link':
      return `${inlineText(token.tokens)}${address(token)}`
    case 'image':
      return `${escapedText(`[image: ${token.text}]`)}${address({ ...token, text: '' })}`
    case 'br':
      return '\\\n'
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
      return escapedText(token.raw)
  }
}

/** The address is always shown, so that no text can pretend to be another one. */
function address({ href, text }: { readonly href: string; readonly text: string }): string {
  const isObvious = href === '' || href === text || href === `mailto:${text}`
  return isObvious ? '' : ` (${codeSpan(href)})`
}
