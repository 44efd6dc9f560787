import * as z from 'zod'
import { timestamp } from '../../../../host/clock.ts'
import { writeSettings } from '../../../../host/settings.ts'
import { trust } from '../../../../host/trust.ts'
import { failed, ok, type NextAction, type Result } from '../../../../model/errors.ts'
import type { Setting } from '../../../../model/settings.ts'
import { nonEmptyValue } from '../../../../session/settings/credentials.ts'
import {
  readAllSettings,
  SET,
  sourcedSetting,
  sourcedSettings,
  storeForUser,
  withSetting,
  type AllStoredSettings,
} from '../../../../session/settings/stored-settings.ts'
import { checkedProvider } from '../../../../session/settings/choice.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { CONFIG_SET } from '../../definitions/settings.ts'
import { canAsk } from '../../input/confirm.ts'
import { unknownModel } from '../../../../session/settings/model-choice.ts'
import { settingNamed, settingValue, shownValue } from '../../input/setting-values.ts'
import { inSettings, type SettingsPlace } from '../../world/settings-place.ts'
import { typedLine } from '../../input/typed-line.ts'
import { visibleText } from '../../text/visible-text.ts'
import type { CliWorld } from '../../world/world.ts'

export const Output = z.object({
  ok: z.literal(true),
  key: z.string(),
  value: z
    .union([z.string(), z.number(), z.boolean()])
    .optional()
    .describe('Absent if the setting was reset. API keys are not shown.'),
  where: z.enum(['user', 'workspace']),
  counts: z.boolean().describe('False for an untrusted workspace setting.'),
})

/** Changes or resets one setting, for the user or for one workspace. */
export const run: Run<typeof CONFIG_SET> = async (world, { args: [key, typed], options }) => {
  const { here } = options
  const change = await changeOf(world, key, typed)
  if (!change.ok) return change
  const { setting, value } = change.value
  const provider = knownProvider(setting, value)
  if (!provider.ok) return provider
  const judged = await judgedModel(world, setting, value)
  return inSettings(world, options, here ? 'create' : 'none', async (place) => {
    const set = await (here
      ? setForWorkspace(world, place, change.value)
      : setForUser(place, change.value))
    if (!set.ok) return set
    const where = here ? 'workspace' : 'user'
    const shown = value === undefined ? {} : { value: setting.secret ? SET : value }
    const output = { key, ...shown, where, counts: set.value }
    if (judged !== undefined) world.streams.stderr.write(`hawser: ${visibleText(judged)}\n`)
    if (setting.secret && value !== undefined)
      warnAboutRisks(world, key, { here, byHand: typed !== '-' })
    return answer(world, output, () => words(output))
  })
}

/** Every provider is known, so an unknown one is a mistake that would only show with the next Session. */
function knownProvider({ key }: Setting, value: unknown): Result<undefined> {
  return key === 'provider' && typeof value === 'string' ? checkedProvider(value) : ok(undefined)
}

/** An unknown model is stored with a warning, because a custom server may have it. */
async function judgedModel(
  world: CliWorld,
  { key }: Setting,
  value: unknown,
): Promise<string | undefined> {
  if (key !== 'model' || typeof value !== 'string') return undefined
  return unknownModel(value, (await world.models({})).rows())
}

interface Change {
  readonly setting: Setting
  /** Absent if the setting is reset. */
  readonly value: unknown
}

async function changeOf(
  world: CliWorld,
  key: string,
  typed: string | undefined,
): Promise<Result<Change>> {
  const setting = settingNamed(key)
  if (!setting.ok) return setting
  const entered = typed === '-' ? await enteredValue(world, setting.value) : ok(typed)
  if (!entered.ok) return entered
  const value =
    entered.value === undefined ? ok(undefined) : settingValue(setting.value, entered.value)
  return value.ok ? ok({ setting: setting.value, value: value.value }) : value
}

/**
 * Reads the value from standard input, so that it is not in the shell history. On a terminal, a secret is not echoed.
 */
async function enteredValue(
  { streams }: CliWorld,
  { key, secret }: Setting,
): Promise<Result<string>> {
  const { stdin } = streams
  if (stdin.isTTY) {
    if (!canAsk(streams)) {
      const message =
        'Missing value, and there is no terminal to ask for it: pass it on standard input.'
      return failed('invalid_args', message, { key }, [fromFile(key)])
    }
    const question = `${key}${secret ? ' (not shown)' : ''}: `
    const line = await typedLine(streams, { question, echo: !secret, longest: LONGEST_VALUE })
    return line === undefined ? failed('invalid_args', 'No value entered.', { key }) : ok(line)
  }
  const bytes = await stdin.all(LONGEST_VALUE)
  if (bytes === undefined) return failed('too_large', 'Standard input is too long for a value.')
  const text = nonEmptyValue(bytes.toString('utf8'))
  if (text !== undefined) return ok(text)
  return failed('invalid_args', 'Standard input is empty.', { key }, [fromFile(key)])
}

const LONGEST_VALUE = 16 * 1024

function fromFile(key: string): NextAction {
  return { action: 'Read it from a file.', command: `hawser config set ${key} - < FILE` }
}

/** Warns about the risks of a secret that was just set. */
function warnAboutRisks(
  { streams: { stderr } }: CliWorld,
  key: string,
  { here, byHand }: { readonly here: boolean; readonly byHand: boolean },
): void {
  if (byHand) {
    const instead = `hawser config set ${key} -`
    stderr.write(
      `hawser: your shell may have saved this key in its history. Next time: ${instead}\n`,
    )
  }
  if (here) {
    stderr.write('hawser: the key is stored in this workspace, in .hawser/config.json.\n')
  }
}

async function setForUser(
  place: SettingsPlace,
  { setting, value }: Change,
): Promise<Result<boolean>> {
  const stored = await storeForUser(place, setting, value)
  return stored.ok ? ok(true) : stored
}

/**
 * A value that a person sets here is trusted. If the file contained nothing untrusted before, its new content is
 * trusted as a whole; otherwise the person is informed that it waits.
 */
async function setForWorkspace(
  { clock }: CliWorld,
  { home, workspace, foreign, ids }: SettingsPlace,
  { setting, value }: Change,
): Promise<Result<boolean>> {
  if (workspace === undefined) throw new Error('the workspace was not opened')
  const before = await readAllSettings(home, workspace, { foreign })
  if (!before.ok) return before
  const next = withSetting(before.value.workspaceFile?.settings ?? {}, setting, value)
  const written = await writeSettings(workspace, next, ids)
  if (!written.ok) return written
  const after = await readAllSettings(home, workspace, { foreign })
  if (!after.ok) return after
  if (after.value.workspaceFile === undefined || isTrusted(after.value)) return ok(true)
  if (!isTrusted(before.value)) return ok(isInForce(after.value, setting))
  const { sha256 } = after.value.workspaceFile
  const what = `settings of ${workspace.label}`
  const at = timestamp(clock)
  const trusted = await trust(home, { sha256, what, at }, ids)
  return trusted.ok ? ok(true) : trusted
}

/** There are no untrusted settings. */
function isTrusted(stored: AllStoredSettings): boolean {
  return sourcedSettings(stored).every(({ untrusted }) => untrusted === undefined)
}

function isInForce(stored: AllStoredSettings, setting: Setting): boolean {
  return sourcedSetting(stored, setting).untrusted === undefined
}

interface SetOutput {
  readonly key: string
  readonly value?: unknown
  readonly where: string
  readonly counts: boolean
}

function words({ key, value, where, counts }: SetOutput): string {
  const whose = where === 'user' ? 'for your user' : 'for this workspace'
  const done = value === undefined ? `Reset ${key}` : `Set ${key} to ${shownValue(value)}`
  const waits = 'It is ignored until you trust the settings of this workspace: hawser trust\n'
  return `${done} ${whose}.\n${counts ? '' : waits}`
}
