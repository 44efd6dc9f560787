import type { FileDiff } from '../../../session/queries/diff.ts'
import { visibleLine } from '../text/visible-text.ts'

/** A file change in the format of `patch -p1` and `git apply`. Binary content is only named. */
export function patchOf({ path, change, text, diff }: FileDiff): string {
  const created = change === 'created'
  if (text && diff === '' && !created) return ''
  const [before, after] = [created ? NOTHING : name('a', path), name('b', path)]
  const title = `diff --git ${quotePath('a', path)} ${quotePath('b', path)}\n`
  const mode = created ? 'new file mode 100644\n' : ''
  if (!text) return `${title}${mode}Binary files ${before} and ${after} differ\n`
  // An empty new file has no hunk.
  if (diff === '') return title + mode
  return `${title}${mode}--- ${before}\n+++ ${after}\n${hunksOf(diff)}`
}

const NOTHING = '/dev/null'

/** Without the two header lines, which are for people and shorten long names. */
function hunksOf(diff: string): string {
  return diff.slice(diff.indexOf('\n', diff.indexOf('\n') + 1) + 1)
}

/** A name with a space is terminated by a tab. */
function name(side: 'a' | 'b', path: string): string {
  if (isQuoted(path)) return quotePath(side, path)
  return `${side}/${path}${path.includes(' ') ? '\t' : ''}`
}

function quotePath(side: 'a' | 'b', path: string): string {
  if (!isQuoted(path) && !path.includes(' ')) return `${side}/${path}`
  return `"${side}/${Array.from(Buffer.from(path), spelt).join('')}"`
}

/** As in git: characters that break the line or are invisible are written in octal. */
function isQuoted(path: string): boolean {
  return /["\\]/.test(path) || visibleLine(path) !== path
}

function spelt(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  const plain = byte >= 0x20 && byte < 0x7f
  return plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
}
