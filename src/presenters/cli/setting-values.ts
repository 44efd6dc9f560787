import * as z from 'zod'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { allSettings, type Setting } from '../../model/settings.ts'
import { quoted, shortened } from '../../encoding/quote.ts'
import type { SourcedSetting } from '../../session/stored-settings.ts'
import { nearest } from './nearest.ts'
import { visibleLine } from './visible-text.ts'

/** The setting a person named. One that does not exist is answered with the nearest that does. */
export function settingNamed(key: string): Result<Setting> {
  const all = allSettings()
  const found = all.find((setting) => setting.key === key)
  if (found !== undefined) return ok(found)
  const keys = all.map((setting) => setting.key)
  const below = keys.filter((one) => one.startsWith(`${key}.`))
  if (below.length > 0)
    return failedKey(`${key} is a group: name one of ${below.join(', ')}.`, keys)
  const close = nearest(key, keys)
  const hint = close === undefined ? '' : ` Did you mean ${close}?`
  return failedKey(`There is no setting ${shown(key)}.${hint}`, keys, close)
}

/** The value that a person typed, as the setting takes it: a number, a boolean, one of some words, or text. */
export function settingValue(setting: Setting, typed: string): Result<unknown> {
  const readings: unknown[] = [typed]
  if (/^-?\d+(\.\d+)?$/.test(typed)) readings.push(Number(typed))
  if (typed === 'true' || typed === 'false') readings.push(typed === 'true')
  const fitting = readings.find((reading) => setting.schema.safeParse(reading).success)
  if (fitting !== undefined) return ok(fitting)
  const allowed = allowedIn(setting)
  return failed('invalid_args', `${setting.key} takes ${allowed}, not ${shown(typed)}.`, {
    key: setting.key,
    allowed,
  })
}

function shown(typed: string): string {
  return quoted(shortened(typed, 80))
}

/** A value as a person types it. */
export function shownValue(value: unknown): string {
  return visibleLine(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Whether colours are wanted, by the setting that counts. */
export function chosenColour(settings: readonly SourcedSetting[]): 'auto' | 'always' | 'never' {
  const chosen = settings.find(({ setting }) => setting.key === 'display.colour')?.value
  return chosen === 'always' || chosen === 'never' ? chosen : 'auto'
}

const Shape = z.object({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
})

/** Whether it takes any text, and so may hold what nobody else should see. */
export function isFreeText({ schema }: Setting): boolean {
  const { type, enum: words } = Shape.parse(z.toJSONSchema(schema))
  return type === 'string' && words === undefined
}

/** What a setting takes, in words. */
export function allowedIn({ schema }: Setting): string {
  const { type, enum: words, minimum, maximum } = Shape.parse(z.toJSONSchema(schema))
  if (words !== undefined) return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  if (type === 'boolean') return 'true or false'
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`
  return 'text'
}

function failedKey(message: string, keys: readonly string[], close?: string): Failed {
  const command = `hawser config get${close === undefined ? '' : ` ${close}`}`
  return failed('invalid_args', message, { keys }, [
    { action: 'See which settings there are.', command },
  ])
}
