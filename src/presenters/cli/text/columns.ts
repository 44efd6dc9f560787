import { lineWidth, PLAIN, wrappedVerbatim, type Line, type Style } from './cell-width.ts'
import { visibleLine } from './visible-text.ts'

type Align = 'left' | 'right'

/** Rows as lines, their cells below each other, two spaces apart. A row may have fewer cells than others. */
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
      // Nothing stands behind the last cell, so it needs no filling.
      return [gap, ...line, plain(at === row.length - 1 ? '' : free)]
    }),
  )
}

const GAP = '  '

/** A cell of text from outside, on one line; what does not fit into `cells` is cut off with a mark. */
export function cell(text: string, style: Style = PLAIN, cells = Infinity): Line {
  const shown = [{ text: visibleLine(text), style }]
  if (lineWidth(shown) <= cells) return shown
  const [start = []] = wrappedVerbatim(shown, Math.max(1, cells - 1))
  return [...start, { text: '…', style }]
}

function plain(text: string): Line[number] {
  return { text, style: PLAIN }
}
