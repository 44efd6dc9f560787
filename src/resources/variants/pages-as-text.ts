import { pageText, pagesHead, pagesTail } from '../../prompt/words/pdf-pages.ts'
import type { VariantSpan } from './variant.ts'

/**
 * Joins pages to one text: a header line, then each page after a line with its number. Contains as many whole pages as
 * fit into `most` bytes, or the beginning of the first page; a last line lists what is left out.
 *
 * `texts` starts with the first requested page and may end early if it exceeds the limit. `null` is an unreadable page.
 */
export function pagesAsText(
  texts: readonly (string | null)[],
  { from, to }: VariantSpan,
  count: number,
  most: number,
): { readonly text: string; readonly span: VariantSpan } {
  const room = most - NOTES_BYTES
  const pages = texts.map((text, at) => pageText(text, from + at, count))
  const whole = howManyFit(pages, room)
  const span = { from, to: from + Math.max(1, whole) - 1 }
  const body = whole === 0 ? `${cut(pages[0] ?? '', room)}\n` : pages.slice(0, whole).join('')
  const leftOut = {
    restOf: whole === 0 ? from : undefined,
    pages: span.to < to ? { from: span.to + 1, to } : undefined,
  }
  return { text: pagesHead(count) + body + pagesTail(leftOut, most), span }
}

/** An upper bound for the size of the first and last line. */
const NOTES_BYTES = 320

function howManyFit(pages: readonly string[], room: number): number {
  let bytes = 0
  const over = pages.findIndex((page) => (bytes += Buffer.byteLength(page)) > room)
  return over === -1 ? pages.length : over
}

/** The beginning of a text, without a partial character at its end. */
function cut(text: string, bytes: number): string {
  const head = Buffer.from(text).subarray(0, Math.max(0, bytes))
  return new TextDecoder().decode(head, { stream: true })
}
