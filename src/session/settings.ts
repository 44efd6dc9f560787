import type { Folder } from '../host/files.ts'
import { readSettings, readTrusted, type StoredSettings } from '../host/settings.ts'
import { ok, type Result } from '../model/errors.ts'
import { UNTRUSTED_SETTINGS, type Settings } from '../model/settings.ts'

/** Settings as they count here, and what a person should know about where they come from. */
export interface EffectiveSettings {
  readonly settings: Settings
  /** Keys that the workspace sets and nobody has trusted, so that they do not count. */
  readonly ignored: readonly string[]
}

/** The user's settings, then what the workspace may add to them. */
export async function loadSettings(
  home: Folder,
  workspace: Folder | undefined,
): Promise<Result<EffectiveSettings>> {
  const own = await readSettings(home)
  if (!own.ok) return own
  const here = workspace === undefined ? ok(undefined) : await readSettings(workspace)
  if (!here.ok) return here
  const trusted = here.value === undefined ? ok(new Set<string>()) : await readTrusted(home)
  if (!trusted.ok) return trusted
  return ok(merged(own.value?.settings ?? {}, here.value, trusted.value))
}

function merged(
  own: Settings,
  here: StoredSettings | undefined,
  trusted: ReadonlySet<string>,
): EffectiveSettings {
  if (here === undefined) return { settings: own, ignored: [] }
  const whole = trusted.has(here.sha256)
  const counts = (key: string) => whole || UNTRUSTED_SETTINGS.some((allowed) => allowed === key)
  const entries = Object.entries(here.settings)
  const added = Object.fromEntries(entries.filter(([key]) => counts(key)))
  const settings = {
    ...own,
    ...added,
    display: { ...own.display, ...here.settings.display },
    limits: { ...own.limits, ...here.settings.limits },
  }
  return { settings, ignored: entries.flatMap(([key]) => (counts(key) ? [] : [key])) }
}
