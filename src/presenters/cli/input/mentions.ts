import { ATTACHMENT_EXTENSIONS } from '../../../model/limits.ts'
import { HANDLE_PREFIXES } from '../../../model/descriptor.ts'

/** Candidates for the `@` words of a prompt, each once, in order. The Session and the disk decide which ones exist. */
export interface Mentions {
  /** Such as `@img1`. */
  readonly handles: readonly string[]
  readonly paths: readonly PathWord[]
}

/**
 * A path as written after the `@`, and without its trailing punctuation, which may belong to the sentence. The longest
 * spelling first; never empty.
 */
export type PathWord = readonly string[]

/**
 * Finds `@img1`, `@src/index.ts` and `@"a b.png"` in a text. An `@` within a word, such as in an email address, is ignored.
 * Pure.
 */
export function mentionsIn(text: string): Mentions {
  const handles = new Set<string>()
  const paths = new Map<string, PathWord>()
  for (const [, quoted, bare = ''] of text.matchAll(MENTION)) {
    const handle = quoted === undefined ? handlePattern().exec(bare)?.[0] : undefined
    if (handle !== undefined) handles.add(`@${handle}`)
    if (handle !== undefined || paths.size >= MOST_PATHS) continue
    const spellings =
      quoted === undefined && !/^\.{1,2}$/.test(bare) ? spellingsOf(bare) : [quoted ?? bare]
    const shortest = spellings.at(-1) ?? ''
    const names = quoted === undefined ? NAMES_SOMETHING.test(bare) : NAMED.test(quoted)
    if (names && shortest.length <= LONGEST_PATH)
      paths.set(shortest, paths.get(shortest) ?? spellings)
  }
  return { handles: [...handles], paths: [...paths.values()] }
}

/**
 * The word that mentions exactly this relative path, also if it looks like a handle, begins with an `@`, or would be in the
 * home folder. The path must be mentionable. Pure.
 */
export function mentionOf(path: string): string {
  const typed = path.startsWith('~/') ? `./${path}` : path
  const [word] = mentionsIn(`@${typed}`).paths
  return word?.[0] === typed ? `@${typed}` : `@"${typed}"`
}

/** Whether a word can name the path: it has a letter or a digit, and neither a quotation mark nor what cannot be typed. */
export function isMentionable(path: string): boolean {
  return NAMED.test(path) && !/["\p{Cc}\uFFFD]/u.test(path)
}

/**
 * Whether a file with this name is attached. Only the last extension counts, case-insensitively, and something must precede
 * it.
 */
export function isAttachable(path: string): boolean {
  const extension = /[^/\\](\.[^./\\]+)$/.exec(path)?.[1]
  return extension !== undefined && Object.hasOwn(ATTACHMENT_EXTENSIONS, extension.toLowerCase())
}

/** Whether a word is meant as a path even if nothing exists there; `@alice` may be a person. */
export function looksLikePath(word: string): boolean {
  return word.includes('/') || /[^.]\.[a-z0-9]{1,5}$/i.test(word)
}

const LONGEST_PATH = 4_096

/** A limit, because each one is looked up on disk. */
const MOST_PATHS = 100

const MENTION = /(?<=^|[\s([{<"'“‘«,;:])@(?:"([^"\n]+)"|([^\s"]+))/gu

/** `@@` of a diff, `@-` and `@...` name nothing; `@.`, `@..` and `@../../` name folders. */
const NAMES_SOMETHING = /^[^@]*[\p{L}\p{N}]|^(?:\.{1,2}\/)*\.{1,2}\/?$/u

/** A quoted path may begin with an `@`. */
const NAMED = /[\p{L}\p{N}]/u

const PREFIXES = Object.values(HANDLE_PREFIXES).join('|')

/** `@img1.` ends a sentence; `@img1.png`, `@img1/a` and `@img12a` are something else. Most texts need no such pattern. */
function handlePattern(): RegExp {
  return new RegExp(
    String.raw`^(?:${PREFIXES})[1-9][0-9]{0,8}(?![\p{L}\p{N}_/\\-]|\.[\p{L}\p{N}])`,
    'u',
  )
}

/** At most this many trailing punctuation characters are stripped from a path. */
const MOST_SIGNS = 8
const PUNCTUATION = /(?:['’]s|[.,;:!?)\]}>'’”»…*_`])$/u

function spellingsOf(bare: string): PathWord {
  const spellings = [bare]
  let path = bare
  for (let signs = 0; signs < MOST_SIGNS; signs++) {
    path = path.replace(PUNCTUATION, '')
    if (path === '' || path === spellings.at(-1)) break
    spellings.push(path)
  }
  return spellings
}
