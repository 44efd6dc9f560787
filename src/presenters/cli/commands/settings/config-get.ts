import * as z from 'zod'
import { ok } from '../../../../model/errors.ts'
import {
  readAllSettings,
  sourcedSetting,
  sourcedSettings,
  type SourcedSetting,
} from '../../../../session/settings/stored-settings.ts'
import { answer, wantsColour } from '../../world/answer.ts'
import { terminalText, type Line } from '../../text/cell-width.ts'
import { cell, inColumns } from '../../text/columns.ts'
import type { Run } from '../../world/command.ts'
import type { CONFIG_GET } from '../../definitions/settings.ts'
import { chosenColour, settingNamed, shownValue } from '../../input/setting-values.ts'
import { inSettings } from '../../world/settings-place.ts'
import type { CliWorld } from '../../world/world.ts'

const Value = z.union([z.string(), z.number(), z.boolean()])

export const Output = z.object({
  ok: z.literal(true),
  settings: z.array(
    z.object({
      key: z.string(),
      value: Value.optional().describe(
        'The effective value; absent if it depends on the machine. API keys are not shown.',
      ),
      source: z.enum(['default', 'user', 'workspace']),
      untrusted: Value.optional().describe(
        'The value in the workspace settings, ignored until you trust them.',
      ),
      description: z.string(),
    }),
  ),
})

/** Shows settings with their effective values and sources. */
export const run: Run<typeof CONFIG_GET> = async (world, { args: [key], options }) => {
  const named = key === undefined ? ok(undefined) : settingNamed(key)
  if (!named.ok) return named
  return inSettings(world, options, 'open', async ({ home, workspace, foreign }) => {
    const stored = await readAllSettings(home, workspace, { foreign })
    if (!stored.ok) return stored
    const one = named.value && sourcedSetting(stored.value, named.value)
    const shown = one === undefined ? sourcedSettings(stored.value) : [one]
    const words = () => (one === undefined ? tableOf(world, shown) : valueOf(world, one))
    return answer(world, { settings: shown.map(entryOf) }, words)
  })
}

function entryOf({ setting: { key, description }, ...rest }: SourcedSetting) {
  return { key, ...rest, description }
}

/** Prints only the value to standard output, for scripts; its source goes to standard error. */
function valueOf({ streams: { stderr } }: CliWorld, one: SourcedSetting): string {
  stderr.write(`${one.setting.description}\nSet by: ${sourceOf(one)}\n`)
  return one.value === undefined ? '' : `${shownValue(one.value)}\n`
}

function tableOf(world: CliWorld, all: readonly SourcedSetting[]): string {
  const colour = wantsColour(world, world.streams.stdout, chosenColour(all))
  const header = ['Setting', 'Value', 'Set by', 'Description'].map((text) =>
    cell(text, { dim: true }),
  )
  return terminalText(inColumns([header, ...all.map(cellsOf)], []), colour)
}

function cellsOf(one: SourcedSetting): Line[] {
  return [
    cell(one.setting.key),
    cell(one.value === undefined ? '-' : shownValue(one.value), {}, 40),
    cell(sourceOf(one), one.untrusted === undefined ? {} : { colour: 'yellow' }),
    cell(one.setting.description),
  ]
}

function sourceOf({ source, untrusted }: SourcedSetting): string {
  if (untrusted === undefined) return source
  return `${source} (workspace, not trusted: ${shownValue(untrusted)})`
}
