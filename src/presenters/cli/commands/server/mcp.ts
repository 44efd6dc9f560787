import { ok } from '../../../../model/errors.ts'
import type { MCP } from '../../definitions/server.ts'
import type { Run } from '../../world/command.ts'
import { EXIT } from '../../world/exit-code.ts'
import { homeTether } from '../../world/home-tether.ts'
import { ownRedactor } from '../../world/own-redactor.ts'
import { untilStopped } from '../../world/until-stopped.ts'

/** Serves MCP until the host closes standard input, which is the regular way to stop it. */
export const run: Run<typeof MCP> = async (world) => {
  if (world.streams.stdin.isTTY) world.streams.stderr.write(HINT)
  const redactor = await ownRedactor(world)
  await world.mcp(homeTether(world), { stopped: untilStopped(world), redactor })
  return ok(EXIT.done)
}

const HINT =
  'hawser mcp talks to an MCP host over standard input and output. Add it to the settings of your host: see hawser mcp --help.\n'
