import { pageText, pagesHead, pagesTail } from '../../encoding/words/pdf-pages.ts'
import type { VariantSpan } from './variant.ts'

/**
 * Pages as one text: under a line that tells what it is, each page under a line with its number. Whole pages, as many as `most`
 * bytes have room for, or of the first page as much as they have room for; then a last line tells what is left out.
 *
 * `texts` begins with the first page of those that are asked for, and may end early when it is longer than there is room for.
 * `null` is a page that cannot be read.
 */
export function pagesAsText(
  texts: readonly (string | null)[],
  { from, to }: VariantSpan,
  count: number,
  most: number,
): { readonly text: string; readonly shown: VariantSpan } {
  const room = most - NOTES_BYTES
  const pages = texts.map((text, at) => pageText(text, from + at, count))
  const whole = howManyFit(pages, room)
  const shown = { from, to: from + Math.max(1, whole) - 1 }
  const body = whole === 0 ? `${cut(pages[0] ?? '', room)}\n` : pages.slice(0, whole).join('')
  const leftOut = {
    restOf: whole === 0 ? from : undefined,
    pages: shown.to < to ? { from: shown.to + 1, to } : undefined,
  }
  return { text: pagesHead(count) + body + pagesTail(leftOut, most), shown }
}

/** More than the first and the last line take, whatever numbers are in them. */
const NOTES_BYTES = 320

function howManyFit(pages: readonly string[], room: number): number {
  let bytes = 0
  const over = pages.findIndex((page) => (bytes += Buffer.byteLength(page)) > room)
  return over === -1 ? pages.length : over
}

/** The beginning of a text, without half a letter at its end. */
function cut(text: string, bytes: number): string {
  const head = Buffer.from(text).subarray(0, Math.max(0, bytes))
  return new TextDecoder().decode(head, { stream: true })
}
