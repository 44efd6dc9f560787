import { programEnv } from './bubblewrap/env.ts'
import type { ConfinedCommand } from './confinement.ts'
import { submoduleEnv } from './git/submodule-env.ts'
import type { PreparedSandbox, SandboxContext } from './plan.ts'

/** The environment of a command in a sandbox. */
export async function sandboxEnv(
  { env }: Pick<SandboxContext, 'env'>,
  { plan, watch, variables }: PreparedSandbox,
  more: ConfinedCommand['env'] = {},
): Promise<Record<string, string>> {
  const submodules = watch === undefined ? {} : await submoduleEnv(watch.before.root)
  const home = { home: plan.home, temporary: '/tmp', variables }
  return programEnv(env, home, { ...submodules, ...more })
}
