import { basename, resolve } from 'node:path'
import { judgeConfiguration, locationIn } from '../../../model/safety/git-configuration.ts'
import { gitRole } from '../../../model/safety/git-places.ts'
import { liesIn } from '../../files/confined-path.ts'
import type { GitPlace } from './git-look.ts'

/** What a judgement depends on beside the place itself. */
interface Ground {
  /** Absolute; paths of places are from here. */
  readonly root: string
  /** Folders in which git directories may lie: the workspace, and the repository's own git directory. */
  readonly inside: readonly string[]
  /** What was in its place before. */
  readonly earlier: GitPlace | undefined
  /** Everything that was found, to see where a location leads. */
  readonly all: readonly GitPlace[]
  /** Paths that were there before. */
  readonly known: ReadonlySet<string>
  /** Git directories that were there before. */
  readonly folders: ReadonlySet<string>
}

/** Why something that appeared where git reads cannot stay; `undefined` when it runs nothing. */
export function offence(place: GitPlace, ground: Ground): string | undefined {
  switch (place.role) {
    case 'configuration':
      return configurationOffence(place, ground)
    case 'location':
      return locationOffence(place, ground)
    case 'hooks':
      // The folder itself runs nothing; what lies in it is a place of its own.
      return place.kind === 'folder' ? undefined : 'git would run it'
  }
}

function configurationOffence(place: GitPlace, { root, inside, earlier }: Ground) {
  if (place.text === undefined) return 'git would read configuration from it'
  const { offending, leadsTo } = judgeConfiguration(place.text, earlier?.text)
  if (offending.length > 0) return `it sets ${offending.slice(0, 3).join(', ')}`
  const outside = leadsTo.find((path) => !isInside(resolve(root, place.folder, path), inside))
  return outside === undefined ? undefined : 'its work tree lies outside'
}

function locationOffence(place: GitPlace, ground: Ground): string | undefined {
  const { root, inside, all, known, folders } = ground
  // Only a git directory that is made as a work tree's own is made with these.
  if (isInFolder(place) && folders.has(place.folder)) return 'it leads git elsewhere'
  if (place.leadsTo === undefined) {
    const said = isInFolder(place) ? locationIn(place.text ?? '', 'plain') : undefined
    const at = said === undefined ? undefined : resolve(root, place.folder, said)
    return at !== undefined && isInside(at, inside) ? undefined : 'it leads git elsewhere'
  }
  if (!isInside(place.leadsTo, inside)) return 'it leads git outside'
  if (
    !all.some(({ folder, role }) => role !== 'hooks' && resolve(root, folder) === place.leadsTo)
  ) {
    return 'it leads git to no repository'
  }
  // What it makes git read is judged with it: the file there may be anyone's, and then only this goes.
  const others = all.filter((one) => one !== place)
  return others
    .filter(({ folder, path }) => resolve(root, folder) === place.leadsTo && !known.has(path))
    .map((one) => offence(one, { ...ground, all: others, earlier: undefined }))
    .find(Boolean)
}

/** `commondir` and `gitdir` lie in the git directory they belong to, a `.git` file beside it. */
function isInFolder({ path }: GitPlace): boolean {
  return gitRole(basename(path)) === 'location'
}

function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => liesIn(path, folder))
}
