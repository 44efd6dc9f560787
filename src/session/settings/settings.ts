import type { Folder } from '../../host/files/files.ts'
import { readSettings, readTrusted } from '../../host/settings.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EffectiveSettings } from './effective-settings.ts'

/** The user's settings, then what the workspace may add to them. */
export async function loadSettings(
  home: Folder,
  workspace: Folder | undefined,
): Promise<Result<EffectiveSettings>> {
  const own = await readSettings(home)
  if (!own.ok) return own
  const here = workspace === undefined ? ok(undefined) : await readSettings(workspace)
  if (!here.ok) return here
  if (here.value === undefined) return ok({ settings: own.value?.settings ?? {}, ignored: [] })
  const known = await readTrusted(home)
  if (!known.ok) return known
  const trusted = known.value.has(here.value.sha256)
  const { effectiveSettings } = await import('./effective-settings.ts')
  return ok(effectiveSettings({ own: own.value, here: here.value, trusted }))
}
