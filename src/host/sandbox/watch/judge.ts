import { basename, resolve } from 'node:path'
import { judgeConfiguration, locationIn } from '../../../model/safety/git-configuration.ts'
import { gitRole } from '../../../model/safety/git-places.ts'
import { liesIn } from '../../files/confined-path.ts'
import type { GitPlace } from './git-look.ts'

/** What the decision depends on besides the path itself. */
interface JudgeContext {
  /** Absolute; the paths of places are relative to it. */
  readonly root: string
  /** Folders in which git directories may lie: the workspace and the repository's own git directory. */
  readonly inside: readonly string[]
  /** What was there before the command. */
  readonly earlier: GitPlace | undefined
  /** Everything the scan found, to resolve where a location points. */
  readonly all: readonly GitPlace[]
  /** Paths that existed before the command. */
  readonly knownPaths: ReadonlySet<string>
  /** Git directories that existed before the command. */
  readonly folders: ReadonlySet<string>
}

/** Why a new path that git reads must not stay; `undefined` when git runs nothing because of it. */
export function violation(place: GitPlace, context: JudgeContext): string | undefined {
  switch (place.role) {
    case 'configuration':
      return configurationViolation(place, context)
    case 'location':
      return locationViolation(place, context)
    case 'hooks':
      // The folder itself runs nothing; its entries are checked on their own.
      return place.kind === 'folder' ? undefined : 'git would run it'
  }
}

function configurationViolation(place: GitPlace, { root, inside, earlier }: JudgeContext) {
  if (place.text === undefined) return 'git would read configuration from it'
  const { offending, leadsTo } = judgeConfiguration(place.text, earlier?.text)
  if (offending.length > 0) return `it sets ${offending.slice(0, 3).join(', ')}`
  const outside = leadsTo.find((path) => !isInside(resolve(root, place.folder, path), inside))
  return outside === undefined ? undefined : 'its work tree is outside the workspace'
}

function locationViolation(place: GitPlace, context: JudgeContext): string | undefined {
  const { root, inside, all, knownPaths, folders } = context
  // Only a git directory created for a worktree is created with these files.
  if (isInFolder(place) && folders.has(place.folder)) return 'it points git to another folder'
  if (place.leadsTo === undefined) {
    const pointer = isInFolder(place) ? locationIn(place.text ?? '', 'plain') : undefined
    const at = pointer === undefined ? undefined : resolve(root, place.folder, pointer)
    return at !== undefined && isInside(at, inside) ? undefined : 'it points git to another folder'
  }
  if (!isInside(place.leadsTo, inside)) return 'it points git outside the workspace'
  if (
    !all.some(({ folder, role }) => role !== 'hooks' && resolve(root, folder) === place.leadsTo)
  ) {
    return 'it points git to a folder that is not a repository'
  }
  // Files that it makes git read count against this path: they may be ordinary files, and then only this one is moved.
  const others = all.filter((one) => one !== place)
  return others
    .filter(({ folder, path }) => resolve(root, folder) === place.leadsTo && !knownPaths.has(path))
    .map((one) => violation(one, { ...context, all: others, earlier: undefined }))
    .find(Boolean)
}

/** `commondir` and `gitdir` lie in the git directory they belong to, a `.git` file beside it. */
function isInFolder({ path }: GitPlace): boolean {
  return gitRole(basename(path)) === 'location'
}

function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => liesIn(path, folder))
}
