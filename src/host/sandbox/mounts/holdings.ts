import { realpath } from 'node:fs/promises'
import { isIn } from './showing.ts'
import { userHomes } from './user-homes.ts'

/** What a sandbox keeps programs from, and what it does not, in sentences for people. */
export interface Holdings {
  readonly holds: readonly string[]
  readonly does_not_hold: readonly string[]
}

/** What is so for every command that bubblewrap confines here. */
export const SANDBOX_HOLDINGS: Holdings = {
  holds: [
    'Commands can change the workspace and nothing else.',
    'Commands see the system, toolchains, folders of PATH, settings of git without credentials, and the workspace; other files of a home are not there.',
    'Credentials in what they see are hidden by one table.',
    'Unix sockets outside the workspace are not reachable.',
    'There is no network unless it is allowed.',
  ],
  does_not_hold: [
    'With the network allowed, abstract Unix sockets of this machine are reachable: they belong to the network.',
    'A Unix socket that a container listens on, in a folder that commands see, is reachable.',
  ],
}

/** What does not hold in this workspace because of where it lies. */
export async function workspaceHoldings(workspace: string): Promise<readonly string[]> {
  const real = await realpath(workspace).catch(() => workspace)
  const homes = [...(await userHomes()), '/home', '/root'].filter((home) => isIn(home, real))
  if (homes.length === 0) return []
  return [
    `The workspace contains ${homes[0]}: commands read and change everything there but the credentials of the table, and reach the Unix sockets there.`,
  ]
}
