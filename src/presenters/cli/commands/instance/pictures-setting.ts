import { closing } from '../../../../host/files/files.ts'
import { loadSettings } from '../../../../session/settings/settings.ts'
import type { CliWorld } from '../../world/world.ts'

/** Whether the user wants images in the terminal. Settings that cannot be read change nothing here. */
export async function picturesSetting(world: CliWorld): Promise<'auto' | 'never' | undefined> {
  const home = await world.openHome()
  if (!home.ok) return undefined
  const loaded = await closing(home.value, () => loadSettings(home.value.folder, undefined))
  return loaded.ok ? loaded.value.settings.display?.pictures : undefined
}
