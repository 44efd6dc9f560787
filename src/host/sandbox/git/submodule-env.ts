import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gitSettings, isPlainUrl } from '../../../model/safety/git-configuration.ts'

const MOST_BYTES = 65_536

/**
 * The submodule URLs of a workspace as git configuration in environment variables. `git submodule update --init` first
 * writes them to `.git/config`, which is read-only here, and fails; it accepts URLs that are already configured. Relative
 * URLs are left out: git would resolve them against a different folder.
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
