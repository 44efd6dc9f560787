import { EXIT } from '../../world/exit-code.ts'
import { homeTether } from '../../world/home-tether.ts'
import { ownRedactor } from '../../world/own-redactor.ts'
import { untilStopped } from '../../world/until-stopped.ts'
import type { CliWorld } from '../../world/world.ts'

/** Serves MCP until the host closes standard input, which is the regular way to stop it. */
export async function run(world: CliWorld): Promise<number> {
  if (world.streams.stdin.isTTY) world.streams.stderr.write(HINT)
  const redactor = await ownRedactor(world)
  await world.mcp(homeTether(world), { stopped: untilStopped(world), redactor })
  return EXIT.done
}

const HINT =
  'hawser mcp talks to an MCP host over standard input and output. Add it to the settings of your host: see hawser mcp --help.\n'
