import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gitSettings, isPlainUrl } from '../../../model/safety/git-configuration.ts'

const MOST_BYTES = 65_536

/**
 * The addresses of a workspace's submodules as configuration by environment. `git submodule update --init` writes them into
 * `.git/config` first, which is read-only here, and gives up when it cannot; an address that is configured already it takes
 * as it is. Relative ones are left out: git would resolve them against another folder.
 */
export async function submoduleEnv(workspace: string): Promise<Readonly<Record<string, string>>> {
  const path = join(workspace, '.gitmodules')
  const facts = await lstat(path).catch(() => undefined)
  if (facts?.isFile() !== true || facts.size > MOST_BYTES) return {}
  const settings = gitSettings(await readFile(path, 'utf8').catch(() => '')) ?? []
  const urls = settings.filter(
    ({ section, subsection, key, value }) =>
      section === 'submodule' &&
      subsection !== undefined &&
      key === 'url' &&
      isPlainUrl(value) &&
      !/^\.\.?(\/|$)/.test(value),
  )
  const pairs = urls.flatMap(({ subsection, value }, at) => [
    [`GIT_CONFIG_KEY_${at}`, `submodule.${subsection}.url`] as const,
    [`GIT_CONFIG_VALUE_${at}`, value] as const,
  ])
  if (pairs.length === 0) return {}
  return { GIT_CONFIG_COUNT: String(urls.length), ...Object.fromEntries(pairs) }
}
