import { ATTACHMENT_EXTENSIONS } from '../../../model/limits.ts'
import { HANDLE_PREFIXES } from '../../../model/descriptor.ts'

/** Candidates for the `@` words of a prompt, each once, in order. The Session and the disk decide which ones exist. */
export interface Mentions {
  /** Such as `@img1`. */
  readonly handles: readonly string[]
  /** As written after the `@`. */
  readonly paths: readonly string[]
}

/**
 * Finds `@img1`, `@docs/a.pdf` and `@"a b.png"` in a text. An `@` within a word, such as in an email address, is
 * ignored, and so is trailing punctuation. Pure.
 */
export function mentionsIn(text: string): Mentions {
  const handles = new Set<string>()
  const paths = new Set<string>()
  for (const [, quoted, bare = ''] of text.matchAll(MENTION)) {
    const handle = quoted === undefined ? handlePattern().exec(bare)?.[0] : undefined
    if (handle !== undefined) handles.add(`@${handle}`)
    const path = handle === undefined ? pathIn(quoted, bare) : undefined
    if (path !== undefined && paths.size < MOST_PATHS) paths.add(path)
  }
  return { handles: [...handles], paths: [...paths] }
}

const LONGEST_PATH = 4_096

/** A limit, because each one is looked up on disk. */
const MOST_PATHS = 100

const MENTION = /(?<=^|[\s([{<"'“‘«,;:])@(?:"([^"\n]+)"|([^\s"]+))/gu

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

function pathIn(quoted: string | undefined, bare: string): string | undefined {
  if (quoted !== undefined) return hasExtension(quoted) ? quoted : undefined
  let path = bare
  for (let signs = 0; signs <= MOST_SIGNS; signs++) {
    if (hasExtension(path)) return path
    path = path.replace(PUNCTUATION, '')
  }
  return undefined
}

/** Only the last extension counts, case-insensitively, and something must precede it. */
function hasExtension(path: string): boolean {
  if (path.length > LONGEST_PATH) return false
  const extension = /[^/\\](\.[^./\\]+)$/.exec(path)?.[1]
  return extension !== undefined && Object.hasOwn(ATTACHMENT_EXTENSIONS, extension.toLowerCase())
}
