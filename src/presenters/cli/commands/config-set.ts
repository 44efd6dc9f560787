import * as z from 'zod'
import { writeSettings, trust } from '../../../host/settings.ts'
import { ok, type Result } from '../../../model/errors.ts'
import type { Setting } from '../../../model/settings.ts'
import {
  readAllSettings,
  sourcedSettings,
  withSetting,
  type AllStoredSettings,
} from '../../../session/stored-settings.ts'
import { answer, refuse } from '../answer.ts'
import type { Given } from '../command.ts'
import { settingNamed, settingValue, shownValue } from '../setting-values.ts'
import { inSettings, type SettingsPlace } from '../settings-place.ts'
import type { CliWorld } from '../world.ts'

const Asked = z.object({
  args: z.tuple([z.string(), z.string().optional()]),
  options: z.object({ here: z.boolean().default(false), json: z.boolean().default(false) }),
})

export const Output = z.object({
  ok: z.literal(true),
  key: z.string(),
  value: z
    .union([z.string(), z.number(), z.boolean()])
    .optional()
    .describe('Absent when the setting was forgotten.'),
  where: z.enum(['user', 'workspace']),
  counts: z.boolean().describe('False for what a workspace says and nobody has trusted.'),
})

/** Changes one setting, or forgets it, for the user or for one workspace. */
export async function run(world: CliWorld, given: Given): Promise<number> {
  const {
    args: [key, typed],
    options: { here, json },
  } = Asked.parse(given)
  const change = changeOf(key, typed)
  if (!change.ok) return refuse(world, json, change.error)
  const { value } = change.value
  return inSettings(world, given, here ? 'create' : 'none', async (place) => {
    const set = await (here ? setHere(world, place, key, value) : setForUser(place, key, value))
    if (!set.ok) return set
    const where = here ? 'workspace' : 'user'
    const told = { key, ...(value === undefined ? {} : { value }), where, counts: set.value }
    return ok(answer(world, json, told, () => words(told)))
  })
}

function changeOf(
  key: string,
  typed: string | undefined,
): Result<{ readonly setting: Setting; readonly value: unknown }> {
  const setting = settingNamed(key)
  if (!setting.ok) return setting
  const value = typed === undefined ? ok(undefined) : settingValue(setting.value, typed)
  return value.ok ? ok({ setting: setting.value, value: value.value }) : value
}

async function setForUser(
  { home, ids }: SettingsPlace,
  key: string,
  value: unknown,
): Promise<Result<boolean>> {
  const stored = await readAllSettings(home, undefined)
  if (!stored.ok) return stored
  const next = withSetting(stored.value.own?.settings ?? {}, key, value)
  const written = await writeSettings(home, next, ids)
  return written.ok ? ok(true) : written
}

/**
 * What a person types here is their own word. As long as nothing stood in the file that nobody had trusted, the new content
 * is trusted with it; else the person is told that it waits.
 */
async function setHere(
  { clock }: CliWorld,
  { home, workspace, ids }: SettingsPlace,
  key: string,
  value: unknown,
): Promise<Result<boolean>> {
  if (workspace === undefined) throw new Error('a workspace was asked for')
  const before = await readAllSettings(home, workspace)
  if (!before.ok) return before
  const next = withSetting(before.value.here?.settings ?? {}, key, value)
  const written = await writeSettings(workspace, next, ids)
  if (!written.ok) return written
  const after = await readAllSettings(home, workspace)
  if (!after.ok) return after
  if (after.value.here === undefined || isFree(after.value)) return ok(true)
  if (!isFree(before.value)) return ok(isInForce(after.value, key))
  const { sha256 } = after.value.here
  const what = `settings of ${workspace.label}`
  const at = new Date(clock.now()).toISOString()
  const trusted = await trust(home, { sha256, what, at }, ids)
  return trusted.ok ? ok(true) : trusted
}

/** Nothing waits to be trusted. */
function isFree(stored: AllStoredSettings): boolean {
  return sourcedSettings(stored).every(({ untrusted }) => untrusted === undefined)
}

function isInForce(stored: AllStoredSettings, key: string): boolean {
  const one = sourcedSettings(stored).find(({ setting }) => setting.key === key)
  return one?.untrusted === undefined
}

interface Change {
  readonly key: string
  readonly value?: unknown
  readonly where: string
  readonly counts: boolean
}

function words({ key, value, where, counts }: Change): string {
  const whose = where === 'user' ? 'for you, everywhere' : 'for this workspace'
  const becomes = value === undefined ? 'forgotten' : shownValue(value)
  const waits = 'It does not count until you trust the settings of this workspace: hawser trust\n'
  return `${key} is ${becomes} ${whose}.\n${counts ? '' : waits}`
}
