import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { GitSetting } from '../../../model/safety/git-configuration.ts'
import { factsBehind, realPathOf } from '../../files/look.ts'
import { parsedSettings, passedSettings, settingsText } from './settings.ts'

/** The user's git settings as the sandbox sees them. */
export interface GitHome {
  /** Content of a `.gitconfig`; empty when there is nothing to pass on. */
  readonly text: string
  /** Files that the settings refer to: ignored paths and attributes. */
  readonly files: readonly string[]
}

const MOST_BYTES = 65_536
const INCLUDES_DEEP = 5

/**
 * Reads the user's git configuration and keeps what `passedSettings` allows. Paths become absolute, because the home inside
 * the sandbox is a different one.
 */
export async function gitHome(
  homes: readonly string[],
  xdgConfig: string | undefined,
  workspace: string,
): Promise<GitHome> {
  const [home] = homes
  if (home === undefined) return { text: '', files: [] }
  const folder = join(
    xdgConfig?.startsWith('/') === true ? xdgConfig : join(home, '.config'),
    'git',
  )
  const usual: readonly GitSetting[] = [
    { section: 'core', key: 'excludesfile', value: join(folder, 'ignore') },
    { section: 'core', key: 'attributesfile', value: join(folder, 'attributes') },
  ]
  const read = [
    ...(await settingsIn(join(folder, 'config'), home, workspace, INCLUDES_DEEP)),
    ...(await settingsIn(join(home, '.gitconfig'), home, workspace, INCLUDES_DEEP)),
  ]
  const settings: GitSetting[] = []
  const files: string[] = []
  for (const setting of passedSettings([...usual, ...read])) {
    if (!isPath(setting)) settings.push(setting)
    else {
      const value = absolute(setting.value, home, home)
      if (!isFile(value)) continue
      files.push(value)
      settings.push({ ...setting, value })
    }
  }
  const text = settingsText(settings)
  // An environment variable is limited to 128 KiB.
  return Buffer.byteLength(text) > MOST_BYTES ? { text: '', files: [] } : { text, files }
}

async function settingsIn(
  path: string,
  home: string,
  workspace: string,
  deep: number,
): Promise<readonly GitSetting[]> {
  const facts = factsBehind(path)
  if (deep === 0 || facts?.isFile() !== true || facts.size > MOST_BYTES) return []
  const settings: GitSetting[] = []
  for (const setting of parsedSettings(await readFile(path, 'utf8').catch(() => ''))) {
    const { section, subsection, key, value } = setting
    if (section !== 'include' && section !== 'includeif') settings.push(setting)
    else if (
      key === 'path' &&
      (subsection === undefined || holds(subsection, path, home, workspace))
    ) {
      const included = absolute(value, home, dirname(path))
      settings.push(...(await settingsIn(included, home, workspace, deep - 1)))
    }
  }
  return settings
}

/**
 * Whether the condition of an `includeIf` applies to the workspace. Supports `gitdir:` with a parent folder of
 * repositories, the usual way to keep identities apart. Patterns and other conditions do not apply.
 */
function holds(condition: string, file: string, home: string, workspace: string): boolean {
  const [, folded, pattern] = /^gitdir(\/i)?:(.+?)(?:\/\*\*|\/)?$/.exec(condition) ?? []
  if (pattern === undefined || /[*?[]/.test(pattern)) return false
  const spelt = absolute(pattern, home, dirname(file))
  const folder = realPathOf(spelt) ?? spelt
  const isDeep = /(\/|\/\*\*)$/.test(condition)
  const cased = (text: string) => (folded === undefined ? text : text.toLowerCase())
  const inner = cased(join(workspace, '.git'))
  const outer = cased(folder)
  return inner === outer || (isDeep && inner.startsWith(`${outer}/`))
}

function isPath({ section, key }: GitSetting): boolean {
  return section === 'core' && (key === 'excludesfile' || key === 'attributesfile')
}

function absolute(path: string, home: string, from: string): string {
  return path.startsWith('~/') ? join(home, path.slice(2)) : resolve(from, path)
}

function isFile(path: string): boolean {
  return factsBehind(path)?.isFile() === true
}
