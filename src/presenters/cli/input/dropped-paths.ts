import { isAttachable } from './mentions.ts'

/** More paths are pasted as text. */
const MOST_PATHS = 20
const LONGEST = 8_192

/**
 * The files that a terminal names when they are dragged into it or pasted: paths in quotes or with escaped spaces, or
 * `file:` URLs, separated by spaces or line breaks. `undefined` if the text is anything else. Whether the files exist is not
 * checked. Pure.
 */
export function droppedPaths(text: string): readonly string[] | undefined {
  if (text.length > LONGEST) return undefined
  const whole = text.trim()
  // A path whose spaces are not escaped.
  if (/^(?:\/|~\/)[^\n"'\\]*$/.test(whole) && isDropped(whole)) return [whole]
  const words = wordsOf(whole)
  if (words === undefined || words.length === 0 || words.length > MOST_PATHS) return undefined
  const paths = words.map(plainPath)
  return paths.every(isDropped) ? paths : undefined
}

/** A word of a shell: quoted, or with backslashes. */
const WORD = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|((?:[^\s"'\\]|\\.)+))(?=\s|$)/suy

function wordsOf(text: string): string[] | undefined {
  const words: string[] = []
  WORD.lastIndex = 0
  let end = 0
  for (let found = WORD.exec(text); found !== null; found = WORD.exec(text)) {
    const [, double, single, bare = ''] = found
    words.push(single ?? (double ?? bare).replaceAll(/\\(.)/gsu, '$1'))
    end = WORD.lastIndex
  }
  return text.slice(end).trim() === '' ? words : undefined
}

function plainPath(word: string): string {
  if (!/^file:\/\//i.test(word)) return word
  try {
    const { pathname, host } = new URL(word)
    return host === '' || host === 'localhost' ? decodeURIComponent(pathname) : word
  } catch {
    return word
  }
}

/** A name without a folder may be meant as text, unless it is an image. */
function isDropped(word: string): boolean {
  const path = plainPath(word)
  const isPlace = /^(?:\/|~\/)/.test(path) && !path.startsWith('//')
  return isAttachable(path) && !/[\n\0]/.test(path) && (isPlace || IMAGE.test(path))
}

const IMAGE = /^(?!\w*:?\/\/).*\.(?:png|jpe?g|gif|webp|pdf)$/is
