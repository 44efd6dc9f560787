import { failed, ok } from '../../../../model/errors.ts'
import type { ACP } from '../../definitions/server.ts'
import type { Run } from '../../world/command.ts'
import { EXIT } from '../../world/exit-code.ts'
import { untilStopped } from '../../world/until-stopped.ts'

/** Serves the editor at the other end of the standard streams. A signal ends it like the editor does. */
export const run: Run<typeof ACP> = async (world) => {
  if (world.streams.stdin.isTTY) {
    return failed('invalid_args', 'hawser acp is started by an editor, not in a terminal.', {}, [
      { action: 'To talk to Hawser in a terminal:', command: 'hawser' },
    ])
  }
  const stop = new AbortController()
  void untilStopped(world).then(() => stop.abort())
  const served = await world.acp(stop.signal)
  return served.ok ? ok(EXIT.done) : served
}
