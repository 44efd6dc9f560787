import type { Folder } from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import { openWorkspace } from '../../../host/workspace.ts'
import { causeOf, ok, type Result } from '../../../model/errors.ts'
import { refuse } from './answer.ts'
import type { CommandInput } from './command.ts'
import { workspaceOf } from './workspace.ts'
import type { CliWorld } from './world.ts'

/** Where settings are stored. Opened without reading them, so that commands can fix invalid settings. */
export interface SettingsPlace {
  readonly home: Folder
  /** Absent if not needed, or if the workspace has no `.hawser` folder yet. */
  readonly workspace?: Folder
  readonly ids: Ids
}

/** `none`: not needed; `open`: if it exists; `create`: if it is missing. */
export type WorkspaceNeed = 'none' | 'open' | 'create'

/** Opens the settings folders, runs `work`, and closes them. A failure is printed; returns the exit code. */
export async function inSettings(
  world: CliWorld,
  { options }: CommandInput,
  need: WorkspaceNeed,
  work: (place: SettingsPlace) => Promise<Result<number>>,
): Promise<number> {
  const worked = await (async () => {
    const home = await world.openHome()
    if (!home.ok) return home
    const { folder, ids, close } = home.value
    try {
      const workspace = await workspaceFolders(world, options['workspace'], ids, need)
      if (!workspace.ok) return workspace
      const own = workspace.value === undefined ? {} : { workspace: workspace.value.own }
      try {
        return await work({ home: folder, ...own, ids })
      } finally {
        await workspace.value?.close()
      }
    } finally {
      await close()
    }
  })()
  return worked.ok ? worked.value : refuse(world, options['json'] === true, worked.error)
}

async function workspaceFolders(world: CliWorld, named: unknown, ids: Ids, need: WorkspaceNeed) {
  if (need === 'none') return ok(undefined)
  const found = await workspaceOf(world, named)
  if (!found.ok) return found
  const opened = await openWorkspace(found.value.path, ids, need)
  if (opened.ok || causeOf(opened.error)?.type !== 'never_used') return opened
  return ok(undefined)
}
