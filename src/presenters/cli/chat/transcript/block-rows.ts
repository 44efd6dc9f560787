import type { Block } from '../../export/blocks.ts'
import { numberedDiff } from '../../render/diff-lines.ts'
import { sentences, verbatim } from '../../screen/rows.ts'
import { PLAIN, type Line } from '../../text/cell-width.ts'
import { MarkdownStream } from '../../text/markdown.ts'
import { visibleLine } from '../../text/visible-text.ts'

/** A block of a transcript in full. Pure. */
export function blockRows(block: Block, columns: number): Line[] {
  const dim = { dim: true }
  if (block.kind === 'turn')
    return [[], ...sentences(`── Turn · ${time(block.ts)}`, { columns, style: { bold: true } })]
  if (block.kind === 'note') return sentences(visibleLine(block.text), { columns, style: dim })
  const { title, ts, text, form, diff, isFolded, notes } = block
  const style = isFolded === true ? { dim: true, italic: true } : PLAIN
  return [
    [],
    [
      { text: visibleLine(title), style: { bold: true } },
      { text: `  ${time(ts)}`, style: dim },
    ].filter((_, at) => at === 0 || columns >= WIDE),
    ...bodyRows(text, form === 'markdown' && isFolded !== true, style, columns),
    ...(diff === undefined ? [] : numberedDiff(diff, columns)),
    ...notes.flatMap((note) => sentences(visibleLine(note), { columns, first: '  ', style: dim })),
  ]
}

/** What a copy of a block contains. Pure. */
export function blockText(block: Block): string {
  if (block.kind === 'turn') return block.ts
  if (block.kind === 'note') return block.text
  return [block.text, block.diff ?? ''].filter((text) => text !== '').join('\n')
}

const WIDE = 40

function bodyRows(
  text: string,
  isMarkdown: boolean,
  style: Line[number]['style'],
  columns: number,
): Line[] {
  if (text === '') return []
  if (!isMarkdown) return verbatim(text.replace(/\n$/, ''), { columns, style })
  const stream = new MarkdownStream(columns)
  return [...stream.push(text), ...stream.end()]
}

function time(ts: string): string {
  return ts.slice(0, 'yyyy-mm-ddThh:mm:ss'.length).replace('T', ' ') + ' UTC'
}
