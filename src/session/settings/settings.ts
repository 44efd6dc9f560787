import type { Folder } from '../../host/files/files.ts'
import { readSettings } from '../../host/settings.ts'
import { readTrusted } from '../../host/trust.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EffectiveSettings } from './effective-settings.ts'

/**
 * The user's settings, overlaid with those of the workspace that are allowed: none without trust if the workspace is
 * `foreign`, which means that this home did not create its `.hawser`.
 */
export async function loadSettings(
  home: Folder,
  workspace: Folder | undefined,
  { foreign = false }: { readonly foreign?: boolean } = {},
): Promise<Result<EffectiveSettings>> {
  const userFile = await readSettings(home)
  if (!userFile.ok) return userFile
  const workspaceFile = workspace === undefined ? ok(undefined) : await readSettings(workspace)
  if (!workspaceFile.ok) return workspaceFile
  if (workspaceFile.value === undefined)
    return ok({ settings: userFile.value?.settings ?? {}, ignoredKeys: [] })
  const known = await readTrusted(home)
  if (!known.ok) return known
  const isTrusted = known.value.has(workspaceFile.value.sha256)
  const { effectiveSettings } = await import('./effective-settings.ts')
  const files = { userFile: userFile.value, workspaceFile: workspaceFile.value }
  return ok(effectiveSettings({ ...files, isTrusted, foreign }))
}
