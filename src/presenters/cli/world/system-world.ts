import { systemClock } from '../../../host/clock.ts'
import { homePath } from '../../../host/machine.ts'
import { openHome } from '../../../host/home.ts'
import { systemStreams, type Streams } from '../../../host/streams.ts'
import { ok, type Result } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import type { CliWorld, OpenedHome } from './world.ts'

/** The parts of the world of a command. */
export interface WorldParts extends Pick<
  CliWorld,
  'env' | 'cwd' | 'version' | 'models' | 'scratch' | 'rehearsal' | 'mcp' | 'proveBot'
> {
  /** Default: those of this process. */
  readonly streams?: Streams | undefined
  readonly open: (home: string) => CliWorld['open']
  readonly skills: (home: string) => CliWorld['skills']
  readonly serve: (home: string) => CliWorld['serve']
  readonly acp: (home: string) => CliWorld['acp']
}

/** The world of this machine, this process and this user. */
export function systemWorld({ streams, open, skills, serve, acp, ...parts }: WorldParts): CliWorld {
  const home = homePath(parts.env)
  return {
    ...parts,
    streams: streams ?? systemStreams(),
    clock: systemClock,
    home,
    open: open(home),
    skills: skills(home),
    serve: serve(home),
    acp: acp(home),
    openHome: () => openHomeAt(home),
    clipboard: () => clipboardOf(parts.env),
    browser: (path) => browse(path, parts.env),
  }
}

/** Reads one byte more than may be attached, so that the size check can reject it. */
async function clipboardOf(env: CliWorld['env']): Promise<Result<Buffer>> {
  const { readClipboard } = await import('../../../host/process/clipboard.ts')
  return readClipboard({ env, limit: LIMITS.attachment_bytes + 1 })
}

async function browse(path: string, env: CliWorld['env']): Promise<boolean> {
  const { openInBrowser } = await import('../../../host/process/browser.ts')
  return openInBrowser(path, { env })
}

async function openHomeAt(home: string): Promise<Result<OpenedHome>> {
  const folders = await openHome(home)
  if (!folders.ok) return folders
  const { systemIds } = await import('../../../host/ids.ts')
  const close = () => folders.value.close()
  return ok({ folder: folders.value.own, ids: systemIds(systemClock), close })
}
