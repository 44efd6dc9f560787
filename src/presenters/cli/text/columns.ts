import { lineWidth, PLAIN, wrappedVerbatim, type Line, type Style } from './cell-width.ts'
import { visibleLine } from './visible-text.ts'

type Align = 'left' | 'right'

/** Formats rows as lines with aligned cells, two spaces apart. Rows may differ in their number of cells. */
export function inColumns(rows: readonly (readonly Line[])[], align: readonly Align[]): Line[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, line] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, lineWidth(line))
    }
  }
  return rows.map((row) =>
    row.flatMap((line, at) => {
      const free = ' '.repeat((widths[at] ?? 0) - lineWidth(line))
      const gap = plain(at === 0 ? '' : GAP)
      if (align[at] === 'right') return [gap, plain(free), ...line]
      // The last cell needs no padding.
      return [gap, ...line, plain(at === row.length - 1 ? '' : free)]
    }),
  )
}

const GAP = '  '

/** A cell with untrusted text, on one line; text longer than `cells` is truncated with a mark. */
export function cell(text: string, style: Style = PLAIN, cells = Infinity): Line {
  const shown = [{ text: visibleLine(text), style }]
  if (lineWidth(shown) <= cells) return shown
  const [start = []] = wrappedVerbatim(shown, Math.max(1, cells - 1))
  return [...start, { text: '…', style }]
}

function plain(text: string): Line[number] {
  return { text, style: PLAIN }
}
