import { userHome } from '../../../host/machine.ts'
import { findWorkspace, type FoundWorkspace } from '../../../host/workspace-search.ts'
import { causeOf, failed, ok, type Result } from '../../../model/errors.ts'
import { refuse } from './answer.ts'
import type { Given } from './command.ts'
import {
  withWorkspace,
  type OpenOptions,
  type OpenWorkspace,
} from '../../../session/workspace/workspace.ts'
import type { CliWorld } from './world.ts'

interface Opening extends OpenOptions {
  /** Answers where no Session was ever begun; without it that is `not_found`. */
  readonly unused?: () => number
}

/** Opens the workspace that was meant, runs `work` in it, and closes it. A failure of either is printed; returns the exit code. */
export async function inWorkspace(
  world: CliWorld,
  { options }: Given,
  work: (opened: OpenWorkspace) => Promise<Result<number>>,
  { unused, ...opening }: Opening = {},
): Promise<number> {
  const json = options['json'] === true
  const found = await workspaceOf(world, options['workspace'])
  if (!found.ok) return refuse(world, json, found.error)
  const { path, folder } = found.value
  const code = await withWorkspace(world.open(path, { ...opening, folder }), (opened) => {
    tellIgnored(world, opened)
    return work(opened)
  })
  if (code.ok) return code.value
  const never = causeOf(code.error)?.type === 'never_used'
  return never && unused !== undefined ? unused() : refuse(world, json, code.error)
}

/** The folder that `--workspace` names, as if the person were in it; or else the one found from where they are. */
export async function workspaceOf(
  world: Pick<CliWorld, 'cwd' | 'home'>,
  given: unknown,
): Promise<Result<FoundWorkspace>> {
  if (typeof given === 'string' && given !== '') return ok({ path: given, folder: '' })
  if (given !== undefined) return failed('invalid_args', '--workspace needs the path of a folder.')
  const here = currentFolder(world)
  if (!here.ok) return here
  const ends = { hawserHome: world.home, userHome: userHome() }
  return ok(await findWorkspace(here.value, ends))
}

/** The folder where the person is. */
export function currentFolder({ cwd }: Pick<CliWorld, 'cwd'>): Result<string> {
  try {
    return ok(cwd())
  } catch {
    return failed('not_found', 'The folder you are in is gone.', {}, [
      { action: 'Go to a folder that is there, or name one.', command: 'hawser --workspace DIR' },
    ])
  }
}

function tellIgnored({ streams }: CliWorld, { settings: { ignored } }: OpenWorkspace): void {
  if (ignored.length === 0) return
  const keys = ignored.join(', ')
  streams.stderr.write(
    `hawser: this workspace sets ${keys}; that does not count until you trust it: hawser trust\n`,
  )
}
