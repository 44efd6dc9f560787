import { PLAIN, wrappedVerbatim, type Line, type Style } from '../text/cell-width.ts'
import { visibleText } from '../text/visible-text.ts'

/**
 * Text with unified diffs in it, as lines no wider than `columns`. What is a change is decided by the counts of its hunk,
 * so a removed line that begins with `--` is no file name, and text around a diff is plain. A diff may be cut off.
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
  // Lines of the old and the new text that the open hunk still has to show.
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

/** What a line is in a hunk that has so many lines left; nothing where it belongs to none. */
function changeAt(line: string, old: number, fresh: number) {
  const sign = line.charAt(0)
  if (sign === '+' && fresh > 0) return { style: ADDED, old: 0, fresh: 1 }
  if (sign === '-' && old > 0) return { style: REMOVED, old: 1, fresh: 0 }
  if (sign === '\\' && (old > 0 || fresh > 0)) return { style: NOTE, old: 0, fresh: 0 }
  return sign === ' ' && old > 0 && fresh > 0 ? { style: PLAIN, old: 1, fresh: 1 } : undefined
}

/** `---` and `+++` name a file only together. */
function namesFile(lines: readonly string[], at: number): boolean {
  const isOld = (index: number) => lines[index]?.startsWith('--- ') === true
  const isNew = (index: number) => lines[index]?.startsWith('+++ ') === true
  return (isOld(at) && isNew(at + 1)) || (isNew(at) && isOld(at - 1))
}
