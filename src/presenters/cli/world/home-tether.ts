import { closing, type Folder } from '../../../host/files/files.ts'
import type { Result } from '../../../model/errors.ts'
import { RemoteTether } from '../../../tether/remote/remote-tether.ts'
import {
  runningServer,
  startedServer,
  type ServerPlace,
} from '../../../tether/remote/started-server.ts'
import type { Tether } from '../../../tether/tether.ts'
import type { CliWorld } from './world.ts'

/**
 * The Instances of this home. The first call that needs the local server starts it if none runs, and then calls `onStart`; the
 * server keeps running.
 */
export function homeTether({ openHome, env, clock }: CliWorld, onStart?: () => void): Tether {
  const inHome = async (
    look: (home: Folder) => Promise<Result<ServerPlace>>,
  ): Promise<Result<ServerPlace>> => {
    const opened = await openHome()
    return opened.ok ? closing(opened.value, ({ folder }) => look(folder)) : opened
  }
  return new RemoteTether({
    find: () => inHome((home) => startedServer({ home, env, clock, ...(onStart && { onStart }) })),
    findAgain: () => inHome(runningServer),
    clock,
  })
}
