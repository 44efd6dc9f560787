import { Settings, UNTRUSTED_SETTINGS } from '../../model/settings.ts'
import type { AllStoredSettings } from './stored-settings.ts'

/** Settings as they count here, and what a person should know about where they come from. */
export interface EffectiveSettings {
  readonly settings: Settings
  /** Keys that the workspace sets and nobody has trusted, so that they do not count. */
  readonly ignored: readonly string[]
}

/**
 * What counts of stored settings: the workspace's word before the user's, as far as it may speak. A provider's key and place
 * are one thing: where the workspace has an entry for a provider, nothing of the user's entry is left. Pure.
 */
export function effectiveSettings({ own, here, trusted }: AllStoredSettings): EffectiveSettings {
  const users = own?.settings ?? {}
  const counts = (key: string) => trusted || UNTRUSTED_SETTINGS.some((allowed) => allowed === key)
  const entries = Object.entries(here?.settings ?? {})
  const added = Settings.parse(Object.fromEntries(entries.filter(([key]) => counts(key))))
  const both = Settings.parse(overlaid(users, added))
  const providers = { ...users.providers, ...added.providers }
  return {
    settings: Object.keys(providers).length === 0 ? both : { ...both, providers },
    ignored: entries.flatMap(([key]) => (counts(key) ? [] : [key])),
  }
}

function overlaid(below: unknown, above: unknown): unknown {
  if (above === undefined) return below
  if (!isGroup(below) || !isGroup(above)) return above
  const fields = new Map<string, unknown>(Object.entries(below))
  for (const [name, value] of Object.entries(above)) {
    fields.set(name, overlaid(fields.get(name), value))
  }
  return Object.fromEntries(fields)
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
