import { isAbsolute, relative, sep } from 'node:path'
import type { CliWorld } from '../world/world.ts'
import { currentFolder } from '../world/workspace.ts'

/** Absolute folders; never empty. */
export type PathBases = readonly [string, ...string[]]

/**
 * What the `@` paths of a message may be relative to, most likely first: the current folder, then the workspace. If the current
 * folder is outside the workspace, the workspace comes first. Completion uses the first.
 */
export function pathBases(world: Pick<CliWorld, 'cwd'>, workspace: string): PathBases {
  const here = currentFolder(world)
  if (!here.ok || here.value === workspace) return [workspace]
  const within = relative(workspace, here.value)
  const isOutside = isAbsolute(within) || within.split(sep)[0] === '..'
  return isOutside ? [workspace, here.value] : [here.value, workspace]
}
