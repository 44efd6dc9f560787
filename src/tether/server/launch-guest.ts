import { ownProgram, type ProgramFiles } from '../../host/process/own-program.ts'
import type { LongProcess, Sandbox } from '../../host/sandbox/sandbox.ts'
import type { Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import { rootPaths } from '../../model/safety/protected-paths.ts'

/** Where a guest runs. All paths are absolute. */
export interface GuestPlace {
  readonly workspace: string
  /** Which folder the workspace must be. Default: the one that its path leads to. */
  readonly identity?: FolderIdentity
  /** `$HAWSER_HOME` of the server, which the guest does not see. */
  readonly home: string
  /** The guest's own home, in a folder below `home`. */
  readonly ownHome: string
  /** The records of the Instance, which the guest sees as the `.hawser` of its workspace. */
  readonly records: string
  /** Without a sandbox, because the operator chose `isolation: "process"`. */
  readonly withoutSandbox?: boolean
  /** Receives what the guest prints. Must not throw. */
  readonly onOutput: (chunk: Buffer) => void
  /** The program of the guest, with Node. Default: this program. */
  readonly program?: ProgramFiles
}

/** Starts the program of a guest in its sandbox. It has no key, no network, and two sockets: `frames` and `relay`. */
export function launchGuest(
  sandbox: Pick<Sandbox, 'start'>,
  place: GuestPlace,
): Promise<Result<LongProcess>> {
  const { workspace, identity, home, ownHome, records, withoutSandbox, onOutput } = place
  const { program = ownProgram() } = place
  const confinement = {
    workspace,
    ...(identity === undefined ? {} : { identity }),
    home,
    ownHome,
    writable: 'workspace',
    protectedPaths: rootPaths('asks'),
    readable: program.readable,
    guest: true,
    records,
  } as const
  return sandbox.start(confinement, {
    argv: [...program.argv, 'guest'],
    env: { HAWSER_HOME: ownHome },
    descriptors: ['frames', 'relay'],
    ...(withoutSandbox === true ? { withoutSandbox } : {}),
    onOutput,
  })
}
