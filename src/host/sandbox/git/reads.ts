import { lstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { configuredLocations, locationIn } from '../../../model/safety/git-configuration.ts'
import { foldedName } from '../../../model/safety/folded-name.ts'
import { GIT_REASONS, gitRole, isGitShape, shapeFolders } from '../../../model/safety/git-places.ts'
import { liesIn } from '../../files/confined-path.ts'
import { entryNames } from '../../files/look.ts'

/** A path that git would read because of other files on disk. */
export interface GitRead {
  readonly path: string
  readonly reason: string
}

/**
 * Why git would read a path of the workspace once it is written, apart from its name: it completes the layout of a
 * repository, changes a folder of that layout, or lies where existing configuration makes git look for hooks or more
 * configuration.
 */
export async function gitReadsAt(workspace: string, path: string): Promise<readonly GitRead[]> {
  const shaped = shapeReason(workspace, path)
  if (shaped !== undefined) return [{ path, reason: shaped }]
  const configured = await configuredReason(workspace, path)
  return configured === undefined ? [] : [{ path, reason: configured }]
}

function shapeReason(workspace: string, path: string): string | undefined {
  for (const { folder, name } of shapeFolders(path)) {
    const names = new Set(entryNames(join(workspace, folder)).map(foldedName))
    const role = gitRole(name)
    if (role !== undefined && isGitShape(new Set([...names, name]))) return GIT_REASONS[role]
    if (!isGitShape(names) && isGitShape(new Set([...names, name]))) return GIT_REASONS.repository
  }
  return undefined
}

/** Every parent folder may be the work tree of a repository. */
async function configuredReason(workspace: string, path: string): Promise<string | undefined> {
  const at = resolve(workspace, path)
  for (let tree = dirname(at); liesIn(tree, workspace); tree = dirname(tree)) {
    const folder = await gitFolderOf(tree)
    if (folder === undefined) continue
    for (const name of ['config', 'config.worktree']) {
      const { hooks, includes } = configuredLocations(await shortText(join(folder, name)))
      const leads = (from: string) => (location: string) => liesIn(at, resolve(from, location))
      if (hooks.some(leads(tree))) return GIT_REASONS.hooks
      if (includes.some(leads(folder))) return GIT_REASONS.configuration
    }
  }
  return undefined
}

/** The folder with the configuration of a work tree. */
async function gitFolderOf(tree: string): Promise<string | undefined> {
  const at = join(tree, '.git')
  const facts = lstatSync(at, { throwIfNoEntry: false })
  if (facts === undefined) return undefined
  const pointer = facts.isFile() ? locationIn(await shortText(at), 'gitfile') : undefined
  const own = pointer === undefined ? at : resolve(tree, pointer)
  const common = locationIn(await shortText(join(own, 'commondir')), 'plain')
  return common === undefined ? own : resolve(own, common)
}

const MOST_BYTES = 1_048_576

async function shortText(path: string): Promise<string> {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts?.isFile() !== true || facts.size > MOST_BYTES) return ''
  return readFile(path, 'utf8').catch(() => '')
}
