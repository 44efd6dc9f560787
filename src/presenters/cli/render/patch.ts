import type { FileDiff } from '../../../session/queries/diff.ts'
import { visibleLine } from '../text/visible-text.ts'

/** What became of a file, as `patch -p1` and `git apply` read it. Content that is not text is only named. */
export function patchOf({ path, change, text, diff }: FileDiff): string {
  const created = change === 'created'
  if (text && diff === '' && !created) return ''
  const [before, after] = [created ? NOTHING : name('a', path), name('b', path)]
  const title = `diff --git ${quoted('a', path)} ${quoted('b', path)}\n`
  const mode = created ? 'new file mode 100644\n' : ''
  if (!text) return `${title}${mode}Binary files ${before} and ${after} differ\n`
  // A file that was made empty has no line to show; its title says it all.
  if (diff === '') return title + mode
  return `${title}${mode}--- ${before}\n+++ ${after}\n${hunksOf(diff)}`
}

const NOTHING = '/dev/null'

/** Without the two lines that name the file: they are for people, and shorten long names. */
function hunksOf(diff: string): string {
  return diff.slice(diff.indexOf('\n', diff.indexOf('\n') + 1) + 1)
}

/** A name with a space ends at a tab, since it cannot end at a space. */
function name(side: 'a' | 'b', path: string): string {
  if (isQuoted(path)) return quoted(side, path)
  return `${side}/${path}${path.includes(' ') ? '\t' : ''}`
}

function quoted(side: 'a' | 'b', path: string): string {
  if (!isQuoted(path) && !path.includes(' ')) return `${side}/${path}`
  return `"${side}/${Array.from(Buffer.from(path), spelt).join('')}"`
}

/** As git does: what could break the line, or is not seen, is spelt in octal. */
function isQuoted(path: string): boolean {
  return /["\\]/.test(path) || visibleLine(path) !== path
}

function spelt(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  const plain = byte >= 0x20 && byte < 0x7f
  return plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
}
