import { resolve } from 'node:path'
import type { Folder } from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import { openWorkspace, type WorkspaceFolders } from '../../../host/workspace.ts'
import { identifyFolder } from '../../../host/files/folder-identity.ts'
import { workspaceRegister } from '../../../host/workspace-register.ts'
import { originOf } from '../../../host/workspaces/origin.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import { causeOf, ok, type Result } from '../../../model/errors.ts'
import { workspaceOf } from './workspace.ts'
import type { CliWorld } from './world.ts'

/** Where settings are stored. Opened without reading them, so that commands can fix invalid settings. */
export interface SettingsPlace {
  readonly home: Folder
  /** Absent if not needed, or if the workspace has no `.hawser` folder yet. */
  readonly workspace?: Folder
  /** This home did not create the `.hawser` of the workspace. */
  readonly foreign: boolean
  readonly ids: Ids
}

/** `none`: not needed; `open`: if it exists; `create`: if it is missing. */
export type WorkspaceNeed = 'none' | 'open' | 'create'

/** Opens the settings folders, runs `work`, and closes them. */
export async function inSettings(
  world: CliWorld,
  options: { readonly workspace?: string | undefined },
  need: WorkspaceNeed,
  work: (place: SettingsPlace) => Promise<Result<number>>,
): Promise<Result<number>> {
  const home = await world.openHome()
  if (!home.ok) return home
  const { folder, ids, close } = home.value
  try {
    const opened = await workspaceFolders(world, options.workspace, { folder, ids, need })
    if (!opened.ok) return opened
    const { workspace, foreign } = opened.value
    try {
      return await work({
        home: folder,
        ...definedFields({ workspace: workspace?.own }),
        foreign,
        ids,
      })
    } finally {
      await workspace?.close()
    }
  } finally {
    await close()
  }
}

interface SettingsNeed {
  /** `$HAWSER_HOME`. */
  readonly folder: Folder
  readonly ids: Ids
  readonly need: WorkspaceNeed
}

async function workspaceFolders(
  world: CliWorld,
  named: string | undefined,
  { folder, ids, need }: SettingsNeed,
): Promise<Result<{ readonly workspace?: WorkspaceFolders; readonly foreign: boolean }>> {
  if (need === 'none') return ok({ foreign: false })
  const found = await workspaceOf(world, named)
  if (!found.ok) return found
  const path = resolve(found.value.path)
  const identity = need === 'create' ? await identifyFolder(path) : undefined
  const origin =
    identity?.ok === true
      ? await workspaceRegister(folder, ids).add(identity.value)
      : originOf(path, world.home).origin
  const foreign = origin === 'unknown' || origin === 'adopted'
  const opened = await openWorkspace(path, ids, need)
  if (opened.ok) return ok({ workspace: opened.value, foreign })
  return causeOf(opened.error)?.type === 'never_used' ? ok({ foreign }) : opened
}
