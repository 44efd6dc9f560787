import { wordChanges, type LinePart } from '../../../encoding/word-changes.ts'
import { PLAIN, wrappedVerbatim, type Line, type Span, type Style } from '../text/cell-width.ts'
import { visibleText } from '../text/visible-text.ts'

/**
 * Formats text that contains unified diffs as lines no wider than `columns`. The line counts of a hunk decide what is a
 * change, so a removed line that begins with `--` is not taken as a file name, and text around a diff stays plain. A
 * diff may be truncated.
 */
export function diffLines(text: string, columns: number): Line[] {
  return diffRows(text).flatMap((row) =>
    wrappedVerbatim([{ text: row.sign, style: row.style }, ...bodyOf(row)], columns),
  )
}

/** The same with line numbers: the old one for removed lines, otherwise the new one. A mark separates hunks. */
export function numberedDiff(
  text: string,
  columns: number,
  { indent = '', names = true }: { readonly indent?: string; readonly names?: boolean } = {},
): Line[] {
  const rows = diffRows(text).filter(({ kind }) => names || kind !== 'name')
  const width = String(rows.reduce((most, { number = 0 }) => Math.max(most, number), 0)).length
  const inner = Math.max(1, columns - indent.length - width - SIGN_WIDTH)
  return rows.flatMap((row, at) => {
    if (row.kind === 'hunk' && (at === 0 || rows[at - 1]?.kind === 'name')) return []
    if (row.kind === 'hunk') return [[{ text: `${indent}${'⋮'.padStart(width)}`, style: NOTE }]]
    if (row.number === undefined && row.kind !== 'note')
      return wrappedVerbatim(
        [{ text: indent + row.sign, style: row.style }, ...bodyOf(row)],
        columns,
      )
    const number = String(row.number ?? '').padStart(width)
    const style = row.kind === 'same' ? NOTE : row.style
    return wrappedVerbatim(bodyOf(row), inner).map((line, part) => [
      { text: part === 0 ? `${indent}${number} ${row.sign} ` : ' '.repeat(columns - inner), style },
      ...line,
    ])
  })
}

/** Around the sign is a space. */
const SIGN_WIDTH = 3

const ADDED: Style = { colour: 'green' }
const REMOVED: Style = { colour: 'red' }
const HUNK: Style = { colour: 'cyan' }
const NAME: Style = { bold: true }
const NOTE: Style = { dim: true }

const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/
const FILE_HEADER = /^(?:diff --git .|(?:new|deleted) file mode \d{6}$|Binary files .* differ$)/

interface DiffRow {
  readonly kind: 'name' | 'hunk' | 'added' | 'removed' | 'same' | 'note' | 'text'
  /** Of a line in a hunk; empty for others. */
  readonly sign: string
  readonly text: string
  readonly style: Style
  readonly number?: number
  /** What changed in the line. */
  readonly parts?: readonly LinePart[]
}

function diffRows(text: string): DiffRow[] {
  if (text === '') return []
  return withWordChanges(classify(text.replace(/\n$/, '').split('\n')))
}

function classify(lines: readonly string[]): DiffRow[] {
  // The numbers of old and new lines that the open hunk still has, and of the next ones.
  let left = { old: 0, fresh: 0 }
  let next = { old: 0, fresh: 0 }
  let isDiff = false
  return lines.map((line, at) => {
    const inHunk = changeAt(line, left.old, left.fresh)
    if (inHunk !== undefined) {
      const { kind, style, old, fresh } = inHunk
      const number = kind === 'note' ? {} : { number: kind === 'removed' ? next.old : next.fresh }
      left = { old: left.old - old, fresh: left.fresh - fresh }
      next = { old: next.old + old, fresh: next.fresh + fresh }
      return { kind, sign: line.charAt(0), text: line.slice(1), style, ...number }
    }
    const hunk = isDiff ? HUNK_HEADER.exec(line) : null
    left = hunk === null ? NOTHING : { old: Number(hunk[2] ?? 1), fresh: Number(hunk[4] ?? 1) }
    if (hunk !== null) {
      next = { old: Number(hunk[1]), fresh: Number(hunk[3]) }
      return { kind: 'hunk', sign: '', text: line, style: HUNK }
    }
    const isName = namesFile(lines, at)
    isDiff ||= isName
    if (isDiff && line.startsWith('\\ '))
      return { kind: 'note', sign: '\\', text: line.slice(1), style: NOTE }
    if (isName || FILE_HEADER.test(line)) return { kind: 'name', sign: '', text: line, style: NAME }
    return { kind: 'text', sign: '', text: line, style: PLAIN }
  })
}

const NOTHING = { old: 0, fresh: 0 }

/** The kind of a line in a hunk with this many lines left; `undefined` outside any hunk. */
function changeAt(line: string, old: number, fresh: number) {
  const sign = line.charAt(0)
  if (sign === '+' && fresh > 0) return { kind: 'added', style: ADDED, old: 0, fresh: 1 } as const
  if (sign === '-' && old > 0) return { kind: 'removed', style: REMOVED, old: 1, fresh: 0 } as const
  if (sign === '\\' && (old > 0 || fresh > 0))
    return { kind: 'note', style: NOTE, old: 0, fresh: 0 } as const
  return sign === ' ' && old > 0 && fresh > 0
    ? ({ kind: 'same', style: PLAIN, old: 1, fresh: 1 } as const)
    : undefined
}

/** `---` and `+++` name a file only as a pair. */
function namesFile(lines: readonly string[], at: number): boolean {
  const isOld = (index: number) => lines[index]?.startsWith('--- ') === true
  const isNew = (index: number) => lines[index]?.startsWith('+++ ') === true
  return (isOld(at) && isNew(at + 1)) || (isNew(at) && isOld(at - 1))
}

/** Where as many lines were added as removed, each replaces one of those. */
function withWordChanges(rows: readonly DiffRow[]): DiffRow[] {
  const result = [...rows]
  let at = 0
  while (at < rows.length) {
    const removed = runOf(rows, at, 'removed')
    const added = runOf(rows, at + removed, 'added')
    if (removed === added) {
      for (let pair = at; pair < at + removed; pair += 1) {
        const [old, fresh] = [rows[pair], rows[pair + removed]]
        const changes = wordChanges(old?.text ?? '', fresh?.text ?? '')
        if (old === undefined || fresh === undefined || changes === undefined) continue
        result[pair] = { ...old, parts: changes.before }
        result[pair + removed] = { ...fresh, parts: changes.after }
      }
    }
    at += Math.max(1, removed + added)
  }
  return result
}

function runOf(rows: readonly DiffRow[], from: number, kind: DiffRow['kind']): number {
  let count = 0
  while (rows[from + count]?.kind === kind) count += 1
  return count
}

function bodyOf({ kind, text, style, parts }: DiffRow): Span[] {
  if (parts === undefined || (kind !== 'added' && kind !== 'removed'))
    return [{ text: visibleText(text), style }]
  return parts.map((part) => ({
    text: visibleText(part.text),
    style: part.isChange ? { ...style, change: kind } : style,
  }))
}
