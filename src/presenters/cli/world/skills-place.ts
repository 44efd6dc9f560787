import { resolve } from 'node:path'
import type { Result } from '../../../model/errors.ts'
import type { InstalledSkills } from '../../../session/workspace/installed-skills.ts'
import { workspaceOf } from './workspace.ts'
import type { CliWorld } from './world.ts'

/** Runs `work` with the Skills of the workspace, which need not have been used. */
export async function inSkills(
  world: CliWorld,
  options: { readonly workspace?: string | undefined },
  work: (skills: InstalledSkills, workspace: string) => Promise<Result<number>>,
): Promise<Result<number>> {
  const found = await workspaceOf(world, options.workspace)
  if (!found.ok) return found
  const workspace = resolve(found.value.path)
  return withSkillsOf(world, workspace, (skills) => work(skills, workspace))
}

/** Runs `work` with the Skills of the workspace at an absolute path. */
export async function withSkillsOf<T>(
  world: Pick<CliWorld, 'openHome' | 'skills'>,
  workspace: string,
  work: (skills: InstalledSkills) => Promise<Result<T>>,
): Promise<Result<T>> {
  const home = await world.openHome()
  if (!home.ok) return home
  try {
    return await work(await world.skills(workspace, home.value))
  } finally {
    await home.value.close()
  }
}
