/** Where a command works, as far as the text shows. */
export interface ShownPlace {
  /** In a git directory. */
  readonly inGit: boolean
  /** In a folder below the workspace, so that everything here is not everything. */
  readonly below: boolean
  /** Possibly outside the workspace. */
  readonly away: boolean
}

/** The place after `cd`. */
export function movedPlace(place: ShownPlace, folder: string): ShownPlace {
  const plain = folder.replace(/\/+$/, '').replace(/^(?:\.\/+)+/, '')
  if (plain === '' || plain === '.') return folder.startsWith('/') ? AWAY : place
  if (namesGit(plain)) return { ...place, inGit: true }
  if (/^[/~$`-]|(?:^|\/)\.\.(?:\/|$)/.test(plain)) return AWAY
  return { ...place, below: true }
}

const AWAY: ShownPlace = { inGit: false, below: false, away: true }

/** Whether the path is a git directory, or something in one that history or staged work consists of. */
export function isGitPath(path: string, { inGit }: ShownPlace): boolean {
  return withoutBraces(path).some((one) => {
    if (GIT_DIRECTORY.test(one)) return true
    const segments = segmentsOf(one)
    const at = segments.findIndex(isGitName)
    if (at === -1) return inGit && !/^[/~$]/.test(one) && isHistory(segments)
    const inside = segments.slice(at + 1)
    return inside.length === 0 || isHistory(inside)
  })
}

/** Whether removing the path with everything in it removes the whole workspace. */
export function isWholeTree(path: string, { below }: ShownPlace): boolean {
  return withoutBraces(path).some((one) => {
    const plain = one.replace(/(.)\/+$/, '$1').replace(/^(?:\.\/+)+(?=.)/, '')
    const everything = plain.replace(/(?:^|\/)(?:\*|\.\*|\*\*|\*\*\/\*)$/, '')
    if (OUTER.test(plain) || OUTER.test(everything)) return true
    if (plain.startsWith('/*')) return true
    if (below) return false
    return HERE.test(everything)
  })
}

/** Folders at or above the current one, whatever that is. */
const OUTER =
  /^(?:\/|~|\$\{?HOME\}?|\.\.(?:\/\.\.)*|\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`)$/
/** The current folder; empty if only a pattern was there. */
const HERE = /^(?:|\.|\$\{?PWD\}?|\$\(pwd\)|`pwd`)$/
const GIT_DIRECTORY =
  /^(?:\$\{?GIT_DIR\}?|(?:\$\(|`)git rev-parse --(?:absolute-)?git(?:-common)?-dir(?:\)|`))(?:\/|$)/

/** What history and staged work consist of. Locks and messages are not among it. */
const PARTS_OF_HISTORY =
  /^(?:objects|refs|packed-refs|HEAD|logs|index|modules|worktrees|shallow|lfs)$/i

function isHistory(inside: readonly string[]): boolean {
  const [first = ''] = inside
  if (inside.at(-1)?.endsWith('.lock') === true) return false
  return PARTS_OF_HISTORY.test(first) || /[*?[]/.test(first)
}

function namesGit(path: string): boolean {
  return segmentsOf(path).some(isGitName)
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** `.git` in any case, or a pattern that a shell expands to it. A pattern without a dot does not match it. */
function isGitName(name: string): boolean {
  return name.startsWith('.') || name.startsWith('[.') ? matchesGit(name) : false
}

/** A longer one is not written to match four letters, and could take long to match. */
const LONGEST_PATTERN = 64

/** Whether a pattern matches `.git`. */
export function matchesGit(pattern: string): boolean {
  if (!/[*?[]/.test(pattern)) return pattern.toLowerCase() === '.git'
  if (pattern.length > LONGEST_PATTERN) return false
  const source = pattern
    .replaceAll(/[.+${}()|\\]|(?<!\[)\^/g, String.raw`\$&`)
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.')
    .replaceAll('[!', '[^')
  try {
    return new RegExp(`^${source}$`, 'i').test('.git')
  } catch {
    // Not a pattern: the shell takes it as it is.
    return false
  }
}

/** No system call accepts a longer path. */
const LONGEST_PATH = 4_096

/** One level of braces, expanded: `{*,.*}`, `.{git,x}`. */
function withoutBraces(path: string): readonly string[] {
  if (path.length > LONGEST_PATH) return []
  const [, before = '', inside = '', after = ''] =
    /^([^{}]*)(?<!\$)\{([^{}]*,[^{}]*)\}([^{}]*)$/.exec(path) ?? []
  return inside === '' ? [path] : inside.split(',').map((one) => before + one + after)
}
