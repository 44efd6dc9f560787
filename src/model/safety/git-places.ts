import { foldedName, foldedSegments } from './folded-name.ts'

/** The role of a file in a git directory, as far as it matters who writes it. */
export type GitRole = 'configuration' | 'location' | 'hooks'

/** Why a tool asks before it writes such a file. Completes "`<path>`: ". */
export const GIT_REASONS: Readonly<Record<GitRole | 'repository', string>> = {
  configuration: 'git reads configuration from it, which can name programs to run',
  location: 'it tells git where to find configuration and hooks',
  hooks: 'git runs the programs in it',
  repository: 'it completes a folder that git treats as a repository',
}

/**
 * The files of a git directory that decide which programs git runs. Everything else stays writable: objects, refs and
 * the index run nothing; `info/attributes` names filters and diff drivers, but only configuration defines them;
 * `objects/info/alternates` refers to objects, which are checked against their names.
 */
const GIT_FILES: Readonly<Record<string, GitRole>> = {
  config: 'configuration',
  'config.worktree': 'configuration',
  commondir: 'location',
  gitdir: 'location',
  hooks: 'hooks',
}

/** The role of `name` in a git directory. */
export function gitRole(name: string): GitRole | undefined {
  const folded = foldedName(name)
  return Object.hasOwn(GIT_FILES, folded) ? GIT_FILES[folded] : undefined
}

/** Whether git or some file system treats this name as `.git`. */
export function isGitName(name: string): boolean {
  const folded = foldedName(name)
  // A short name and a stream of NTFS.
  return folded === '.git' || /^git~[1-9]$|^\.git[ .]*:/.test(folded)
}

/** Folders of a `.git` that contain no repository; they are large, so a scan skips them. */
export function isGitStorage(name: string): boolean {
  return name === 'objects' || name === 'refs' || name === 'logs' || name === 'lfs'
}

/** Whether git treats a folder with these names as a git directory, or would follow `commondir` to it. */
export function isGitShape(names: ReadonlySet<string>): boolean {
  return (
    (names.has('objects') && names.has('refs')) || (names.has('head') && names.has('commondir'))
  )
}

/** The folded names that `isGitShape` checks. */
export const SHAPE_NAMES: ReadonlySet<string> = new Set(['head', 'objects', 'refs', 'commondir'])

/** The role of a path relative to the workspace, from its text alone. */
export function gitRoleOfPath(path: string): GitRole | undefined {
  const segments = foldedSegments(path)
  const at = segments.findIndex(isGitName)
  if (at < 0) return undefined
  const below = segments.slice(at + 1)
  // A file named `.git` contains the location of the repository.
  if (below.length === 0) return 'location'
  const [first = '', ...rest] = below
  const own = gitRole(first)
  if (own !== undefined) return own
  if (first !== 'modules' && first !== 'worktrees') return gitRoleOfPath(below.join('/'))
  // The name of a submodule may contain slashes, so its files can be at any depth.
  return rest.map(gitRole).find((role) => role !== undefined)
}

/** The folders in which writing `path` could complete a repository, with the folded names that would then exist. */
export function shapeFolders(
  path: string,
): readonly { readonly folder: string; readonly name: string }[] {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return segments.flatMap((segment, at) => {
    const name = foldedName(segment)
    const matters = SHAPE_NAMES.has(name) || gitRole(name) !== undefined
    return matters ? [{ folder: segments.slice(0, at).join('/'), name }] : []
  })
}
