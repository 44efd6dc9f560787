import { Redactor } from '../../../../encoding/redaction.ts'
import { diskFolder } from '../../../../host/files/disk.ts'
import { asResult, closing, ifThere } from '../../../../host/files/files.ts'
import { ok } from '../../../../model/errors.ts'
import { secretsOf } from '../../../../session/settings/credentials.ts'
import { loadSettings } from '../../../../session/settings/settings.ts'
import type { MCP } from '../../definitions/server.ts'
import type { Run } from '../../world/command.ts'
import { EXIT } from '../../world/exit-code.ts'
import { homeTether } from '../../world/home-tether.ts'
import { untilStopped } from '../../world/until-stopped.ts'
import type { CliWorld } from '../../world/world.ts'

/** Serves MCP until the host closes standard input, which is the regular way to stop it. */
export const run: Run<typeof MCP> = async (world) => {
  if (world.streams.stdin.isTTY) world.streams.stderr.write(HINT)
  const redactor = await ownRedactor(world)
  await world.mcp(homeTether(world), { stop: untilStopped(world), redactor })
  return ok(EXIT.done)
}

const HINT =
  'hawser mcp talks to an MCP host over standard input and output. Add it to the settings of your host: see hawser mcp --help.\n'

/** For the keys of this process: of its environment, and of the settings if they can be read. Creates no home. */
async function ownRedactor({ env, home }: Pick<CliWorld, 'env' | 'home'>): Promise<Redactor> {
  const loaded = await asResult('read the settings', async () => {
    const folder = await ifThere(diskFolder(home))
    if (folder === undefined) return ok({ settings: {} })
    return closing(folder, () => loadSettings(folder, undefined))
  })
  return new Redactor(secretsOf(env, loaded.ok ? loaded.value.settings : {}))
}
