import { failed } from '../../../../model/errors.ts'
import { refuse } from '../../world/answer.ts'
import { EXIT } from '../../world/exit-code.ts'
import { untilStopped } from '../../world/until-stopped.ts'
import type { CliWorld } from '../../world/world.ts'

/** Serves the editor at the other end of the standard streams. A signal ends it like the editor does. */
export async function run(world: CliWorld): Promise<number> {
  if (world.streams.stdin.isTTY) {
    const { error } = failed(
      'invalid_args',
      'hawser acp is started by an editor, not in a terminal.',
      {},
      [{ action: 'To talk to Hawser in a terminal:', command: 'hawser' }],
    )
    return refuse(world, false, error)
  }
  const stop = new AbortController()
  void untilStopped(world).then(() => stop.abort())
  const served = await world.acp(stop.signal)
  return served.ok ? EXIT.done : refuse(world, false, served.error)
}
