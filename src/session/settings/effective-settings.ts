import { Settings, UNTRUSTED_SETTINGS } from '../../model/settings.ts'
import type { AllStoredSettings } from './stored-settings.ts'

/** The settings in force, and warnings about their sources. */
export interface EffectiveSettings {
  readonly settings: Settings
  /** Keys that an untrusted workspace sets, which are ignored. */
  readonly ignoredKeys: readonly string[]
}

/**
 * Merges stored settings: the workspace overrides the user, as far as it is allowed. A provider's key and URL belong
 * together, so an entry of the workspace for a provider replaces the user's entry entirely. Pure.
 */
export function effectiveSettings({
  userFile,
  workspaceFile,
  isTrusted,
  foreign,
}: AllStoredSettings): EffectiveSettings {
  const users = userFile?.settings ?? {}
  const counts = (key: string) =>
    isTrusted || (foreign !== true && UNTRUSTED_SETTINGS.some((allowed) => allowed === key))
  const entries = Object.entries(workspaceFile?.settings ?? {})
  const added = Settings.parse(Object.fromEntries(entries.filter(([key]) => counts(key))))
  const both = Settings.parse(overlay(users, added))
  const providers = { ...users.providers, ...added.providers }
  return {
    settings: Object.keys(providers).length === 0 ? both : { ...both, providers },
    ignoredKeys: entries.flatMap(([key]) => (counts(key) ? [] : [key])),
  }
}

function overlay(below: unknown, above: unknown): unknown {
  if (above === undefined) return below
  if (!isGroup(below) || !isGroup(above)) return above
  const fields = new Map<string, unknown>(Object.entries(below))
  for (const [name, value] of Object.entries(above)) {
    fields.set(name, overlay(fields.get(name), value))
  }
  return Object.fromEntries(fields)
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
