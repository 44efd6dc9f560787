import { realpath } from 'node:fs/promises'
import { isIn } from './readable-mounts.ts'
import { userHomes } from './user-homes.ts'

/** What a sandbox prevents and what it does not, in sentences for people. */
export interface SandboxGuarantees {
  readonly holds: readonly string[]
  readonly does_not_hold: readonly string[]
}

/** Applies to every command that bubblewrap confines here. */
export const SANDBOX_GUARANTEES: SandboxGuarantees = {
  holds: [
    'Commands can write only to the workspace.',
    'Commands can read the system, toolchains, PATH folders, git settings without credentials, and the workspace. Other files in home folders are hidden.',
    'Known credential files in readable folders are hidden.',
    'Commands cannot connect to Unix sockets outside the workspace.',
    'Commands have no network access unless you allow it.',
  ],
  does_not_hold: [
    'With network access, commands can connect to abstract Unix sockets of this machine, because these share the network namespace.',
    'Commands can connect to a Unix socket of a container if it is in a folder they can read.',
  ],
}

/** What the sandbox cannot prevent in this workspace because of its location. */
export async function workspaceGaps(workspace: string): Promise<readonly string[]> {
  const real = await realpath(workspace).catch(() => workspace)
  const homes = [...(await userHomes()), '/home', '/root'].filter((home) => isIn(home, real))
  if (homes.length === 0) return []
  return [
    `The workspace contains ${homes[0]}: commands can read and write everything there except known credential files, and can connect to Unix sockets there.`,
  ]
}
