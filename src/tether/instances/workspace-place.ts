import { join } from 'node:path'
import { liesIn, shownPath } from '../../host/files/confined-path.ts'
import { identifyFolder } from '../../host/files/folder-identity.ts'
import { realFolder } from '../../host/files/real-folder.ts'
import { failed, type Failed, type Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import type { InstanceRecord } from '../../model/tether/instance.ts'

/** A workspace in the folder of the Instance itself. */
export const OWN_WORKSPACE = 'own'

/** The folder of an Instance without a mapped workspace. */
export function ownWorkspace(path: string): string {
  return join(path, 'workspace')
}

/** The path of the mapped workspace as people know it; `undefined` if there is none. */
export function mappedPath(
  { workspace }: Pick<InstanceRecord, 'workspace'>,
  path: string,
): string | undefined {
  return workspace === OWN_WORKSPACE ? ownWorkspace(path) : workspace
}

/**
 * The folder of a workspace that a person or program names now: an existing one that neither contains the Hawser home nor lies
 * in it.
 */
export async function namedWorkspace(path: string, home: string): Promise<Result<FolderIdentity>> {
  const folder = await identifyFolder(path)
  if (!folder.ok) return unusableWorkspace(path, folder)
  const refused = await besideHome(folder.value.path, home)
  return refused ?? folder
}

/** Why a workspace cannot be at a real path: it contains the Hawser home, or lies in it. */
export async function besideHome(real: string, home: string): Promise<Failed | undefined> {
  const realHome = await realFolder(home)
  if (!realHome.ok) return realHome
  if (!liesIn(real, realHome.value) && !liesIn(realHome.value, real)) return undefined
  const message = `The workspace ${shownPath(real)} contains the Hawser home or lies in it.`
  return failed('invalid_args', message, { field: 'workspace' }, [CHOOSE_ANOTHER])
}

const CHOOSE_ANOTHER = { action: 'Choose another folder, or "own" for a new, separate one.' }

function unusableWorkspace(path: string, { error }: Failed): Failed {
  const message = `The workspace ${shownPath(path)} cannot be used. ${error.message}`
  return failed(error.kind, message, { ...error.details, field: 'workspace' }, [CHOOSE_ANOTHER])
}

/** Why a program may not choose the workspace at a real path: it does not lie below one of the roots. */
export async function belowNoRoot(
  roots: readonly string[],
  real: string,
): Promise<Failed | undefined> {
  for (const root of roots) {
    const allowed = await realFolder(root)
    if (allowed.ok && liesIn(real, allowed.value)) return undefined
  }
  return failed(
    'outside_workspace',
    'The workspace does not lie below one of the folders that programs may use.',
    { field: 'workspace', roots },
    [
      { action: 'Leave the workspace out: the Instance then gets a new, separate folder.' },
      {
        action: 'Allow a folder for Instances that programs create.',
        command: 'hawser config set instances.roots /absolute/path',
      },
    ],
  )
}
