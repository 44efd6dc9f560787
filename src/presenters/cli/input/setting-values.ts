import * as z from 'zod'
import { failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { allSettings, modelSettings, settingAt, type Setting } from '../../../model/settings.ts'
import { quote, shorten } from '../../../encoding/quote.ts'
import { usableKey } from '../../../session/settings/credentials.ts'
import type { SourcedSetting } from '../../../session/settings/stored-settings.ts'
import { nearest } from '../../../session/settings/nearest.ts'
import { visibleLine } from '../text/visible-text.ts'

/** Finds a setting by name. An unknown name fails with the nearest one. */
export function settingNamed(key: string): Result<Setting> {
  const found = settingAt(key)
  if (found !== undefined) return ok(found)
  const fixed = allSettings().map((setting) => setting.key)
  const keys = [...fixed, ...modelSettings('<id>').map((setting) => setting.key)]
  const below = keys.filter((one) => one.startsWith(`${key}.`))
  if (below.length > 0)
    return failedKey(`${key} is a group of settings: ${below.join(', ')}.`, keys)
  if (key.startsWith('models.')) {
    const message = `Unknown setting ${shortQuote(key)}. Expected a model and one of its facts, for example models.gpt-5.5.window_tokens.`
    return failedKey(message, keys)
  }
  const close = nearest(key, fixed)
  const hint = close === undefined ? '' : ` Did you mean ${close}?`
  return failedKey(`Unknown setting ${shortQuote(key)}.${hint}`, keys, close)
}

/** Parses the typed value according to the setting: a number, a boolean, an enumerated word, or text. */
export function settingValue(setting: Setting, typed: string): Result<unknown> {
  const text = setting.secret ? usableKey(typed) : typed
  const readings: unknown[] = [text]
  if (/^-?\d+(\.\d+)?$/.test(typed)) readings.push(Number(typed))
  if (shapeOf(setting).type === 'array') readings.push(typed === '' ? [] : typed.split(','))
  if (typed === 'true' || typed === 'false') readings.push(typed === 'true')
  const fitting = readings.find(
    (reading) => reading !== undefined && setting.schema.safeParse(reading).success,
  )
  if (fitting !== undefined) return ok(fitting)
  const allowed = allowedIn(setting)
  // Free text may be a secret, so it is not repeated.
  const instead = isFreeText(setting) ? '' : `, not ${shortQuote(typed)}`
  return failed('invalid_args', `${setting.key} must be ${allowed}${instead}.`, {
    key: setting.key,
    allowed,
  })
}

function shortQuote(typed: string): string {
  return quote(shorten(typed, 80))
}

/** A value as a person would type it. */
export function shownValue(value: unknown): string {
  return visibleLine(typeof value === 'string' ? value : JSON.stringify(value))
}

/** The colour setting in force. */
export function chosenColour(settings: readonly SourcedSetting[]): 'auto' | 'always' | 'never' {
  const chosen = settings.find(({ setting }) => setting.key === 'display.colour')?.value
  return chosen === 'always' || chosen === 'never' ? chosen : 'auto'
}

const Shape = z.object({
  type: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
})

function shapeOf({ schema }: Setting): z.infer<typeof Shape> {
  return Shape.parse(z.toJSONSchema(schema))
}

/** Whether it accepts free text, which may be confidential. */
export function isFreeText(setting: Setting): boolean {
  const { type, enum: words } = shapeOf(setting)
  return (type === 'string' || type === 'array') && words === undefined
}

/** Describes the accepted values. */
export function allowedIn(setting: Setting): string {
  const { type, format, enum: words, minimum, exclusiveMinimum, maximum } = shapeOf(setting)
  if (setting.secret) return 'an API key: letters, digits and symbols, no spaces'
  if (words?.length === 1) return words.join('')
  if (words !== undefined) return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  if (type === 'boolean') return 'true or false'
  if (type === 'array') return 'a comma-separated list of paths, absolute or below ~/'
  if (type === 'integer' || type === 'number') {
    const kind = type === 'integer' ? 'a whole number' : 'a number'
    if (exclusiveMinimum !== undefined) return `${kind} greater than ${exclusiveMinimum}`
    return maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER
      ? `${kind}, at least ${minimum}`
      : `${kind} from ${minimum} to ${maximum}`
  }
  return format === 'uri' ? 'an http or https URL without user, query or fragment' : 'text'
}

function failedKey(message: string, keys: readonly string[], close?: string): Failed {
  const command = `hawser config get${close === undefined ? '' : ` ${close}`}`
  return failed('invalid_args', message, { keys }, [{ action: 'List the settings.', command }])
}
