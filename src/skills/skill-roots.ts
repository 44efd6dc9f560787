import { join, resolve } from 'node:path'
import { liesIn } from '../host/files/confined-path.ts'
import { isFolderThere } from '../host/files/folder-identity.ts'
import { realPathOf } from '../host/files/look.ts'
import { entryAt, leadsThrough, repositoryOf } from '../host/skills/skill-places.ts'
import type { FolderIdentity } from '../model/folder-identity.ts'
import type { SkillRoot, SkillWarning } from './skill.ts'

/** Where to look for Skills. */
export interface SkillSearch {
  /** The folder of the workspace. */
  readonly workspace: string
  /** Which folder it must be: in another one at its path, only the person's own Skills are found. */
  readonly identity?: FolderIdentity | undefined
  /** `$HAWSER_HOME`. */
  readonly hawserHome: string
  /** The home folder of the person. */
  readonly userHome: string | undefined
}

/** A folder whose subfolders are Skills. */
export interface RootFolder {
  readonly root: SkillRoot
  readonly path: string
  readonly real: string
  /** The folder whose path is followed, and the names from there to the root, which are not. */
  readonly start: string
  readonly below: readonly string[]
  /** The authors of the repository, or a tool in the workspace, decide what is in it. */
  readonly isForeign: boolean
  /** Foreign folders inside it: the workspace may be a Skill of the person. */
  readonly inner: readonly string[]
}

export interface SkillRoots {
  /** Those that exist, in their order. */
  readonly roots: readonly RootFolder[]
  readonly warnings: readonly SkillWarning[]
  /** Folders in which a Skill is not the person's own, in every spelling. */
  readonly foreign: readonly string[]
}

/** The roots. One that leads to another is left out. */
export function skillRoots({ workspace, identity, hawserHome, userHome }: SkillSearch): SkillRoots {
  const here = resolve(workspace)
  const repository = repositoryOf(here, userHome)
  const foreign = [here, repository].flatMap((path) => [path, realPathOf(path) ?? path])
  const theirs = (root: SkillRoot, ...below: string[]) => {
    return { root, path: join(repository, ...below), start: repository, below }
  }
  const ofPerson = (root: SkillRoot, ...below: string[]) =>
    userHome === undefined ? [] : [own(root, join(userHome, ...below))]
  const warnings: SkillWarning[] = []
  const seen = new Set<string>()
  const roots: RootFolder[] = []
  for (const root of [
    ...ofPerson('~/.agents/skills', '.agents', 'skills'),
    own('$HAWSER_HOME/skills', join(hawserHome, 'skills')),
    ...ofPerson('~/.claude/skills', '.claude', 'skills'),
    ...(identity === undefined || isFolderThere(identity)
      ? [
          theirs('<repo>/.agents/skills', '.agents', 'skills'),
          theirs('<repo>/.claude/skills', '.claude', 'skills'),
        ]
      : []),
  ]) {
    const real = entryAt(root.path) === 'missing' ? undefined : realPathOf(root.path)
    if (real === undefined || seen.has(real)) continue
    if (hasLink(root.start, root.below)) {
      const message = 'This folder is not searched: links in a repository are not followed.'
      warnings.push({ path: root.path, message })
      continue
    }
    seen.add(real)
    const isForeign = root.below.length > 0 || leadsThrough(root.path, foreign)
    roots.push({ ...root, real, isForeign, inner: foreign.filter((path) => liesIn(path, real)) })
  }
  return { roots, warnings, foreign: [...new Set(foreign)] }
}

function own(root: SkillRoot, path: string) {
  return { root, path, start: path, below: [] }
}

function hasLink(start: string, below: readonly string[]): boolean {
  return below.some((_, at) => entryAt(join(start, ...below.slice(0, at + 1))) === 'link')
}
