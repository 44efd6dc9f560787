/**
 * Markdown as every renderer sees it. Nothing in it is HTML: HTML and link definitions of the source are text or verbatim
 * blocks. Texts are what the source means, with character references decoded, so a renderer escapes them for its medium.
 */
export type MarkdownBlock =
  | { readonly kind: 'heading'; readonly depth: number; readonly content: readonly MarkdownSpan[] }
  | { readonly kind: 'paragraph'; readonly content: readonly MarkdownSpan[] }
  /** Text that is not a paragraph, such as that of an item of a list without blank lines. */
  | { readonly kind: 'text'; readonly content: readonly MarkdownSpan[] }
  /** `info` is everything after the fence; its first word is usually a language. */
  | { readonly kind: 'code'; readonly info: string; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly MarkdownBlock[] }
  | MarkdownList
  | MarkdownTable
  | { readonly kind: 'rule' }
  | { readonly kind: 'verbatim'; readonly text: string }

export interface MarkdownList {
  readonly kind: 'list'
  /** The number of the first item; undefined for a list without numbers. */
  readonly start: number | undefined
  /** Blank lines separate its items. */
  readonly loose: boolean
  readonly items: readonly MarkdownItem[]
}

export interface MarkdownItem {
  /** Whether its task is done; undefined if it is not a task. */
  readonly done: boolean | undefined
  /** Blank lines separate its blocks. */
  readonly loose: boolean
  readonly blocks: readonly MarkdownBlock[]
}

export interface MarkdownTable {
  readonly kind: 'table'
  readonly header: readonly MarkdownCell[]
  readonly rows: readonly (readonly MarkdownCell[])[]
  readonly align: readonly ('left' | 'center' | 'right' | null)[]
  /** As it was written. */
  readonly source: string
}

export type MarkdownCell = readonly MarkdownSpan[]

export type MarkdownSpan =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'em' | 'del'; readonly content: readonly MarkdownSpan[] }
  | MarkdownLink
  | { readonly kind: 'image'; readonly href: string; readonly description: string }
  | { readonly kind: 'break' }

export interface MarkdownLink {
  readonly kind: 'link'
  readonly href: string
  /** The source of its content. */
  readonly text: string
  readonly content: readonly MarkdownSpan[]
}

/** The address that must be shown beside a link or an image, so that no text can pretend to be another one. */
export function shownAddress(span: Extract<MarkdownSpan, { href: string }>): string | undefined {
  const text = span.kind === 'link' ? span.text : ''
  const isObvious = span.href === '' || span.href === text || span.href === `mailto:${text}`
  return isObvious ? undefined : span.href
}
