import { join } from 'node:path'
import { userHome } from '../../../host/machine.ts'
import { findWorkspace, type FoundWorkspace } from '../../../host/workspace-search.ts'
import { causeOf, failed, ok, type Result } from '../../../model/errors.ts'
import { visibleLine } from '../text/visible-text.ts'
import {
  withWorkspace,
  type OpenOptions,
  type OpenWorkspace,
} from '../../../session/workspace/workspace.ts'
import type { CliWorld } from './world.ts'

interface Opening extends OpenOptions {
  /** Called where no Session was ever created; without it that is `not_found`. */
  readonly ifUnused?: () => Result<number>
}

/** The options of a command that works in a workspace. */
interface WorkspaceOptions {
  readonly workspace?: string | undefined
  readonly instance?: string | undefined
}

/** Opens the workspace, runs `work` in it, and closes it. */
export async function inWorkspace(
  world: CliWorld,
  options: WorkspaceOptions,
  work: (opened: OpenWorkspace) => Promise<Result<number>>,
  { ifUnused, ...opening }: Opening = {},
): Promise<Result<number>> {
  const found = await workspaceAt(world, options)
  if (!found.ok) return found
  const { path, ...where } = found.value
  const code = await withWorkspace(world.open(path, { ...opening, ...where }), (opened) => {
    warnAdopted(world, path, opened)
    warnIgnored(world, opened)
    return work(opened)
  })
  if (code.ok || ifUnused === undefined) return code
  return causeOf(code.error)?.type === 'never_used' ? ifUnused() : code
}

/** The workspace, and with `--instance` the Instance whose records in it are to be read. */
async function workspaceAt(
  world: CliWorld,
  { workspace, instance }: WorkspaceOptions,
): Promise<Result<FoundWorkspace & Pick<OpenOptions, 'instance'>>> {
  if (instance === undefined) return workspaceOf(world, workspace)
  const { namedInstance } = await import('./instance-records.ts')
  const named = await namedInstance(world, instance)
  if (!named.ok) return named
  const found = await workspaceOf(world, workspace ?? named.value.workspace)
  return found.ok ? ok({ ...found.value, instance: named.value.instance }) : found
}

/** The folder given by `--workspace`; otherwise the one found from the current folder upwards. */
export async function workspaceOf(
  world: Pick<CliWorld, 'cwd' | 'home'>,
  named: string | undefined,
): Promise<Result<FoundWorkspace>> {
  if (named === '') return failed('invalid_args', '--workspace requires a folder path.')
  if (named !== undefined) return ok({ path: named, folder: '' })
  const here = currentFolder(world)
  if (!here.ok) return here
  const ends = { hawserHome: world.home, userHome: userHome() }
  return ok(await findWorkspace(here.value, ends))
}

/** The current folder. */
export function currentFolder({ cwd }: Pick<CliWorld, 'cwd'>): Result<string> {
  try {
    return ok(cwd())
  } catch {
    return failed('not_found', 'The current folder no longer exists.', {}, [
      { action: 'Change to an existing folder, or pass one.', command: 'hawser --workspace DIR' },
    ])
  }
}

/** Printed once: from now on the folder is registered. */
function warnAdopted({ streams }: CliWorld, path: string, { adopts }: OpenWorkspace): void {
  if (!adopts) return
  const place = visibleLine(join(path, '.hawser'))
  streams.stderr.write(
    `hawser: ${place} was not created by this Hawser home. Its settings are ignored, and its Sessions are read-only. ` +
      'To trust its settings: hawser trust; to continue a Session: hawser trust SESSION\n',
  )
}

function warnIgnored({ streams }: CliWorld, { settings: { ignoredKeys } }: OpenWorkspace): void {
  if (ignoredKeys.length === 0) return
  const keys = ignoredKeys.join(', ')
  streams.stderr.write(
    `hawser: ignoring untrusted workspace settings: ${keys} (to trust them: hawser trust)\n`,
  )
}
