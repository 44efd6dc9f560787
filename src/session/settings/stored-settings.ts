import type { Folder } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import { readSettings, writeSettings, type StoredSettings } from '../../host/settings.ts'
import { readTrusted } from '../../host/trust.ts'
import { ok, type Result } from '../../model/errors.ts'
import {
  allSettings,
  modelSettings,
  Settings,
  UNTRUSTED_SETTINGS,
  type Setting,
} from '../../model/settings.ts'

/** Settings as stored in their files, before it is decided which of them apply. */
export interface AllStoredSettings {
  readonly userFile: StoredSettings | undefined
  readonly workspaceFile: StoredSettings | undefined
  /** A person trusts the current content of the workspace's file. */
  readonly isTrusted: boolean
  /** This home did not create the `.hawser` of the workspace, so nothing in its file applies without trust. */
  readonly foreign?: boolean
}

export async function readAllSettings(
  home: Folder,
  workspace: Folder | undefined,
  { foreign = false }: { readonly foreign?: boolean } = {},
): Promise<Result<AllStoredSettings>> {
  const userFile = await readSettings(home)
  if (!userFile.ok) return userFile
  const workspaceFile = workspace === undefined ? ok(undefined) : await readSettings(workspace)
  if (!workspaceFile.ok) return workspaceFile
  const known = await readTrusted(home)
  if (!known.ok) return known
  const isTrusted = workspaceFile.value !== undefined && known.value.has(workspaceFile.value.sha256)
  return ok({ userFile: userFile.value, workspaceFile: workspaceFile.value, isTrusted, foreign })
}

/** A setting with its effective value and source. A secret value is replaced by `SET`. */
export interface SourcedSetting {
  readonly setting: Setting
  /** Absent if nothing is set and the default depends on the machine. */
  readonly value?: unknown
  readonly source: 'default' | 'user' | 'workspace'
  /** The value of an untrusted workspace, which is ignored. */
  readonly untrusted?: unknown
}

/** Replaces a secret value in output. */
export const SET = '[set]'

/** Every setting with a fixed name, and all settings of single models. Pure. */
export function sourcedSettings(stored: AllStoredSettings): SourcedSetting[] {
  const files = [stored.userFile, stored.workspaceFile].map((file) => file?.settings)
  const ids = new Set(files.flatMap((settings) => Object.keys(settings?.models ?? {})))
  const facts = [...ids]
    .flatMap(modelSettings)
    .filter(({ path }) => files.some((settings) => valueAt(settings, path) !== undefined))
  return [...allSettings(), ...facts].map((setting) => sourcedSetting(stored, setting))
}

/** One setting: the workspace overrides the user, as far as it is allowed. Pure. */
export function sourcedSetting(
  { userFile, workspaceFile, isTrusted, foreign }: AllStoredSettings,
  setting: Setting,
): SourcedSetting {
  const { path, fallback, secret } = setting
  const shown = (value: unknown) => (secret ? SET : value)
  const counts = isTrusted || (foreign !== true && appliesUntrusted(path))
  const workspaces = valueAt(workspaceFile?.settings, path)
  const users =
    counts && isReplaced(workspaceFile?.settings, path)
      ? undefined
      : valueAt(userFile?.settings, path)
  if (workspaces !== undefined && counts)
    return { setting, value: shown(workspaces), source: 'workspace' }
  const untrusted = workspaces === undefined ? {} : { untrusted: shown(workspaces) }
  if (users !== undefined) return { setting, value: shown(users), source: 'user', ...untrusted }
  const value = fallback === undefined ? {} : { value: fallback }
  return { setting, ...value, source: 'default', ...untrusted }
}

/** Changes or, without a value, resets a setting of the user. The value must match its schema. */
export async function storeForUser(
  { home, ids }: { readonly home: Folder; readonly ids: Ids },
  setting: Setting,
  value: unknown,
): Promise<Result<void>> {
  const stored = await readSettings(home)
  if (!stored.ok) return stored
  return writeSettings(home, withSetting(stored.value?.settings ?? {}, setting, value), ids)
}

/** Returns the settings with one changed or, without a value, removed. The value must match its schema. Pure. */
export function withSetting(settings: Settings, { path }: Setting, value: unknown): Settings {
  return Settings.parse(changeGroup(settings, path, value) ?? {})
}

function appliesUntrusted([group]: readonly string[]): boolean {
  return UNTRUSTED_SETTINGS.some((allowed) => allowed === group)
}

/** A key and its URL belong together, so the workspace's entry for a provider hides the user's. */
function isReplaced(
  workspaceFile: Settings | undefined,
  [group = '', name = '']: readonly string[],
) {
  return group === 'providers' && valueAt(workspaceFile, [group, name]) !== undefined
}

function valueAt(settings: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((group, name) => fieldsOf(group).get(name), settings)
}

/** A group is removed with its last field. */
function changeGroup(group: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  const fields = fieldsOf(group)
  fields.set(name, changeGroup(fields.get(name), rest, value))
  const left = [...fields].filter(([, one]) => one !== undefined)
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

function fieldsOf(group: unknown): Map<string, unknown> {
  return new Map(typeof group === 'object' && group !== null ? Object.entries(group) : [])
}
