import type { Folder } from '../host/files.ts'
import { readSettings, readTrusted, type StoredSettings } from '../host/settings.ts'
import { ok, type Result } from '../model/errors.ts'
import { allSettings, Settings, UNTRUSTED_SETTINGS, type Setting } from '../model/settings.ts'

/** Settings as they stand in their files, before it is decided which of them count. */
export interface AllStoredSettings {
  readonly own: StoredSettings | undefined
  readonly here: StoredSettings | undefined
  /** A person vouched for what the workspace's file says now. */
  readonly trusted: boolean
}

export async function readAllSettings(
  home: Folder,
  workspace: Folder | undefined,
): Promise<Result<AllStoredSettings>> {
  const own = await readSettings(home)
  if (!own.ok) return own
  const here = workspace === undefined ? ok(undefined) : await readSettings(workspace)
  if (!here.ok) return here
  const known = await readTrusted(home)
  if (!known.ok) return known
  const trusted = here.value !== undefined && known.value.has(here.value.sha256)
  return ok({ own: own.value, here: here.value, trusted })
}

/** A setting with the value that counts, and whose value that is. */
export interface SourcedSetting {
  readonly setting: Setting
  /** Absent where nothing is set and the default depends on the machine. */
  readonly value?: unknown
  readonly source: 'default' | 'user' | 'workspace'
  /** What the workspace says and nobody has trusted, so that it does not count. */
  readonly untrusted?: unknown
}

/** Every setting, the workspace's word before the user's as far as it counts. Pure. */
export function sourcedSettings({ own, here, trusted }: AllStoredSettings): SourcedSetting[] {
  return allSettings().map((setting) => {
    const [users, workspaces] = [own, here].map((stored) => valueAt(stored?.settings, setting.key))
    const counts = trusted || mayStandUntrusted(setting.key)
    const untrusted = workspaces === undefined || counts ? {} : { untrusted: workspaces }
    if (workspaces !== undefined && counts)
      return { setting, value: workspaces, source: 'workspace' }
    if (users !== undefined) return { setting, value: users, source: 'user', ...untrusted }
    const { fallback } = setting
    const value = fallback === undefined ? {} : { value: fallback }
    return { setting, ...value, source: 'default', ...untrusted }
  })
}

/** The same settings with one of them changed, or, without a value, forgotten. The value must fit its schema. Pure. */
export function withSetting(settings: Settings, key: string, value: unknown): Settings {
  const [first = '', second] = key.split('.')
  if (second === undefined) return Settings.parse({ ...settings, [first]: value })
  const group = { ...groupOf(settings, first), [second]: value }
  const empty = Object.values(group).every((one) => one === undefined)
  return Settings.parse({ ...settings, [first]: empty ? undefined : group })
}

function mayStandUntrusted(key: string): boolean {
  return UNTRUSTED_SETTINGS.some((group) => key === group || key.startsWith(`${group}.`))
}

function valueAt(settings: Settings | undefined, key: string): unknown {
  const [first = '', second] = key.split('.')
  if (second !== undefined) return groupOf(settings, first)[second]
  return new Map<string, unknown>(Object.entries(settings ?? {})).get(first)
}

function groupOf(settings: Settings | undefined, name: string): Readonly<Record<string, unknown>> {
  const group = new Map<string, unknown>(Object.entries(settings ?? {})).get(name)
  return typeof group === 'object' ? { ...group } : {}
}
