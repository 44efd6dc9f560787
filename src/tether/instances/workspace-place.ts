import { join } from 'node:path'
import { liesIn, shownPath } from '../../host/files/confined-path.ts'
import { realFolder } from '../../host/files/real-folder.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
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
 * The real path of a workspace that a person or program names: an existing folder that neither contains the Hawser home nor
 * lies in it.
 */
export async function checkedWorkspace(path: string, home: string): Promise<Result<string>> {
  const [real, realHome] = await Promise.all([realFolder(path), realFolder(home)])
  if (!real.ok) return unusable(path, real)
  if (!realHome.ok) return realHome
  if (liesIn(real.value, realHome.value) || liesIn(realHome.value, real.value)) {
    const message = `The workspace ${shownPath(path)} contains the Hawser home or lies in it.`
    return failed('invalid_args', message, { field: 'workspace' }, [CHOOSE_ANOTHER])
  }
  return real
}

const CHOOSE_ANOTHER = { action: 'Choose another folder, or "own" for a new, separate one.' }

function unusable(path: string, { error }: Failed): Failed {
  const message = `The workspace ${shownPath(path)} cannot be used. ${error.message}`
  return failed(error.kind, message, { ...error.details, field: 'workspace' }, [CHOOSE_ANOTHER])
}

/** The real path of a workspace below one of the roots, for a program that may not choose any folder. */
export async function workspaceBelow(
  roots: readonly string[],
  real: string,
): Promise<Result<string>> {
  for (const root of roots) {
    const allowed = await realFolder(root)
    if (allowed.ok && liesIn(real, allowed.value)) return ok(real)
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
