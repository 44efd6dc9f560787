import { Redactor } from '../../../encoding/redaction.ts'
import { diskFolder } from '../../../host/files/disk.ts'
import { asResult, closing, ifThere } from '../../../host/files/files.ts'
import { ok } from '../../../model/errors.ts'
import { secretsOf } from '../../../session/settings/credentials.ts'
import { loadSettings } from '../../../session/settings/settings.ts'
import type { CliWorld } from './world.ts'

/** For the keys of this process: of its environment, and of the settings if they can be read. Creates no home. */
export async function ownRedactor({
  env,
  home,
}: Pick<CliWorld, 'env' | 'home'>): Promise<Redactor> {
  const loaded = await asResult('read the settings', async () => {
    const folder = await ifThere(diskFolder(home))
    if (folder === undefined) return ok({ settings: {} })
    return closing(folder, () => loadSettings(folder, undefined))
  })
  return new Redactor(secretsOf(env, loaded.ok ? loaded.value.settings : {}))
}
