import { cellWidth } from './cell-width.ts'

const SEGMENTER = new Intl.Segmenter()

/** Exactly this wide; what does not fit ends with an ellipsis. */
export function padTo(text: string, width: number): string {
  if (cellWidth(text) <= width) return text + ' '.repeat(width - cellWidth(text))
  let cut = ''
  for (const { segment: grapheme } of SEGMENTER.segment(text)) {
    if (cellWidth(cut + grapheme) > width - 1) break
    cut += grapheme
  }
  return `${cut}…`.padEnd(cut.length + 1 + Math.max(0, width - 1 - cellWidth(cut)))
}
