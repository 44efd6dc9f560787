import { systemPath } from './names.ts'

/** The rules of one `.gitignore`, or of several for one folder. The last rule that matches decides. Pure. */
export interface IgnoreRules {
  /**
   * Whether these rules exclude the path, which is relative to their folder; `undefined` if no rule matches. A path below an
   * excluded folder is never asked about: git does not enter such a folder either.
   */
  decide(path: string, isFolder: boolean): boolean | undefined
}

/** More rules than any project has; the rest has no effect. */
const MOST_RULES = 10_000

/**
 * Parses a `.gitignore`, with the meaning that git gives it; `undefined` if it has no rules. Both rules and paths are compared as
 * bytes, one character for each: `?` matches one byte.
 */
export function ignoreRules(file: Buffer): IgnoreRules | undefined {
  const lines = file
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .split('\n', MOST_RULES)
  const rules = lines.flatMap((line) => ruleOf(line) ?? []).reverse()
  if (rules.length === 0) return undefined
  return {
    decide: (named, isFolder) => {
      const path = bytesOf(named)
      const name = path.slice(path.lastIndexOf('/') + 1)
      const rule = rules.find(
        ({ onlyFolders, atRoot, matches }) =>
          (isFolder || !onlyFolders) && matches(atRoot ? path : name),
      )
      return rule && !rule.negates
    },
  }
}

function bytesOf(path: string): string {
  if (/^[\0-\x7f]*$/.test(path)) return path
  const bytes = systemPath(path)
  return (typeof bytes === 'string' ? Buffer.from(bytes) : bytes).toString('latin1')
}

interface Rule {
  readonly negates: boolean
  readonly onlyFolders: boolean
  /** Matches the whole path instead of the last name. */
  readonly atRoot: boolean
  readonly matches: (path: string) => boolean
}

function ruleOf(line: string): Rule | undefined {
  const trimmed = line.replace(/\r$/, '').replace(/(?<!\\) +$/, '')
  if (trimmed === '' || trimmed.startsWith('#')) return undefined
  const negates = trimmed.startsWith('!')
  const pattern = negates ? trimmed.slice(1) : trimmed
  const onlyFolders = pattern.endsWith('/')
  const body = onlyFolders ? pattern.slice(0, -1) : pattern
  if (body === '') return undefined
  const atRoot = body.includes('/')
  const glob = atRoot && body.startsWith('/') ? body.slice(1) : body
  const matches = isLiteral(glob) ? (path: string) => path === glob : matcherOf(glob)
  return matches && { negates, onlyFolders, atRoot, matches }
}

function isLiteral(glob: string): boolean {
  return !/[*?[\\]/.test(glob)
}

/** A regular expression cannot backtrack for long here: two stars in a row are one, and a pattern has few. */
function matcherOf(glob: string): ((path: string) => boolean) | undefined {
  const source = sourceOf(glob)
  if (source === undefined || (glob.match(/\*+/g)?.length ?? 0) > MOST_STARS) return undefined
  const expression = new RegExp(`^${source}$`, 's')
  return (path) => expression.test(path)
}

const MOST_STARS = 12

/** `undefined` if the pattern can match nothing: a set without an end, or a backslash at the end. */
function sourceOf(glob: string): string | undefined {
  let source = ''
  for (let at = 0; at < glob.length; at++) {
    const letter = glob.charAt(at)
    if (letter === '\\') {
      at += 1
      if (at === glob.length) return undefined
      source += literal(glob.charAt(at))
    } else if (letter === '?') source += '[^/]'
    else if (letter === '*') {
      const stars = /^\*+/.exec(glob.slice(at))?.[0].length ?? 1
      const isSegment = glob[at - 1] === undefined || glob[at - 1] === '/'
      const next = glob[at + stars]
      if (stars === 2 && isSegment && next === '/') {
        source += '(?:[^/]+/)*'
        at += 2
      } else if (stars === 2 && isSegment && next === undefined && at > 0) {
        source += '.+'
        at += 1
      } else {
        source += '[^/]*'
        at += stars - 1
      }
    } else if (letter === '[') {
      const set = setAt(glob, at)
      if (set === undefined) return undefined
      source += set.source
      at = set.end
    } else source += literal(letter)
  }
  return source
}

function setAt(glob: string, at: number): { source: string; end: number } | undefined {
  const found =
    /^\[([!^]?)((?:\[:[a-z]+:\]|\\.|[^\]\\])(?:\[:[a-z]+:\]|\\.|[^\]\\])*|\](?:\\.|[^\]\\])*)\]/s.exec(
      glob.slice(at),
    )
  const [whole, not = '', members = ''] = found ?? []
  if (whole === undefined) return undefined
  const inner = members.replaceAll(
    /\[:([a-z]+):\]|\\(.)|([[\]^&~])/gs,
    (_all, named?: string, escaped?: string, special?: string) =>
      named === undefined ? `\\${(escaped ?? special) || '\\'}` : (CLASSES[named] ?? ''),
  )
  const source = `(?!/)[${not === '' ? '' : '^'}${inner}]`
  try {
    // A range that is out of order matches nothing.
    return { source: new RegExp(source).source, end: at + whole.length - 1 }
  } catch {
    return undefined
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  blank: ' \\t',
  digit: '0-9',
  lower: 'a-z',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  xdigit: '0-9A-Fa-f',
}

function literal(letter: string): string {
  return letter.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')
}
