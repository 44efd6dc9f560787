import { PLAIN, wrappedVerbatim, type Line, type Style } from '../text/cell-width.ts'
import { visibleText } from '../text/visible-text.ts'

/**
 * Formats text that contains unified diffs as lines no wider than `columns`. The line counts of a hunk decide what is a
 * change, so a removed line that begins with `--` is not taken as a file name, and text around a diff stays plain. A
 * diff may be truncated.
 */
export function diffLines(text: string, columns: number): Line[] {
  if (text === '') return []
  const lines = text.replace(/\n$/, '').split('\n')
  const styles = stylesOf(lines)
  return lines.flatMap((line, at) =>
    wrappedVerbatim([{ text: visibleText(line), style: styles[at] ?? PLAIN }], columns),
  )
}

const ADDED: Style = { colour: 'green' }
const REMOVED: Style = { colour: 'red' }
const HUNK: Style = { colour: 'cyan' }
const NAME: Style = { bold: true }
const NOTE: Style = { dim: true }

const HUNK_HEADER = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/
const FILE_HEADER = /^(?:diff --git .|(?:new|deleted) file mode \d{6}$|Binary files .* differ$)/

function stylesOf(lines: readonly string[]): Style[] {
  // The numbers of old and new lines that the open hunk still has.
  let old = 0
  let fresh = 0
  let isDiff = false
  return lines.map((line, at) => {
    const inHunk = changeAt(line, old, fresh)
    if (inHunk !== undefined) {
      old -= inHunk.old
      fresh -= inHunk.fresh
      return inHunk.style
    }
    const hunk = isDiff ? HUNK_HEADER.exec(line) : null
    old = hunk === null ? 0 : Number(hunk[1] ?? 1)
    fresh = hunk === null ? 0 : Number(hunk[2] ?? 1)
    if (hunk !== null) return HUNK
    const isName = namesFile(lines, at)
    isDiff ||= isName
    if (isDiff && line.startsWith('\\ ')) return NOTE
    return isName || FILE_HEADER.test(line) ? NAME : PLAIN
  })
}

/** The kind of a line in a hunk with this many lines left; `undefined` outside any hunk. */
function changeAt(line: string, old: number, fresh: number) {
  const sign = line.charAt(0)
  if (sign === '+' && fresh > 0) return { style: ADDED, old: 0, fresh: 1 }
  if (sign === '-' && old > 0) return { style: REMOVED, old: 1, fresh: 0 }
  if (sign === '\\' && (old > 0 || fresh > 0)) return { style: NOTE, old: 0, fresh: 0 }
  return sign === ' ' && old > 0 && fresh > 0 ? { style: PLAIN, old: 1, fresh: 1 } : undefined
}

/** `---` and `+++` name a file only as a pair. */
function namesFile(lines: readonly string[], at: number): boolean {
  const isOld = (index: number) => lines[index]?.startsWith('--- ') === true
  const isNew = (index: number) => lines[index]?.startsWith('+++ ') === true
  return (isOld(at) && isNew(at + 1)) || (isNew(at) && isOld(at - 1))
}
