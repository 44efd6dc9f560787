import * as z from 'zod'
import { failed } from '../../../../model/errors.ts'
import { ModelFacts, type ModelRow } from '../../../../model/model-facts.ts'
import { loadSettings } from '../../../../session/settings/settings.ts'
import { quote, shorten } from '../../../../encoding/quote.ts'
import { groupDigits } from '../../../../encoding/amounts.ts'
import { answer, wantsColour } from '../../world/answer.ts'
import { paintLine, type Line } from '../../text/cell-width.ts'
import { cell, inColumns } from '../../text/columns.ts'
import type { Run } from '../../world/command.ts'
import type { MODELS } from '../../definitions/settings.ts'
import { nearest } from '../../../../session/settings/nearest.ts'
import { inSettings } from '../../world/settings-place.ts'
import type { KnownModels } from '../../world/world.ts'

export const Output = z.object({
  ok: z.literal(true),
  as_of: z.iso.date().describe('When the figures were looked up.'),
  models: z.array(
    z.object({
      provider: z.string().describe('`any` for a model defined only in the settings.'),
      id: z.string(),
      default: z.boolean().describe('The default model of its provider.'),
      facts: ModelFacts.describe('Known facts; features that need a missing one are unavailable.'),
      sources: z
        .record(z.string(), z.string())
        .describe('The source of each fact: the name of a reference, by the name of the fact.'),
    }),
  ),
  references: z
    .record(z.string(), z.string())
    .describe('What the source names refer to: pages and packages.'),
})

/** Lists the models of the catalogue, with the user's overrides. Needs no workspace. */
export const run: Run<typeof MODELS> = async (world, { options }) => {
  const { provider } = options
  return inSettings(world, {}, 'none', async ({ home }) => {
    const loaded = await loadSettings(home, undefined)
    if (!loaded.ok) return loaded
    const { models: overrides = {}, display } = loaded.value.settings
    const known = await world.models(overrides)
    if (provider !== undefined && !known.providers.includes(provider)) {
      return noSuchProvider(provider, known)
    }
    const rows = known.rows(provider)
    const { asOf, references } = known
    const output = { as_of: asOf, models: rows, references }
    const colour = wantsColour(world, world.streams.stdout, display?.colour)
    return answer(world, output, () => words(rows, asOf, colour))
  })
}

function noSuchProvider(provider: string, { providers }: KnownModels) {
  const close = nearest(provider, providers)
  const hint = close === undefined ? '' : ` Did you mean ${close}?`
  const message = `Unknown provider ${quote(shorten(provider, 80))}.${hint}`
  return failed('invalid_args', message, { providers }, [
    { action: 'List the models of all providers.', command: 'hawser models' },
  ])
}

function words(rows: readonly ModelRow[], asOf: string, colour: boolean): string {
  const header = HEADER.map((text) => cell(text, { dim: true }))
  const lines = inColumns([header, ...rows.map(cellsOf)], ALIGN)
  return [...lines.map((line) => paintLine(line, colour)), '', ...footer(asOf), ''].join('\n')
}

const HEADER = [
  'Model',
  'Provider',
  'Window',
  'Output',
  'Images',
  'PDF',
  'In $',
  'Out $',
  'Late role',
] as const
const ALIGN = ['left', 'left', 'right', 'right', 'left', 'left', 'right', 'right', 'left'] as const

function footer(asOf: string): readonly string[] {
  return [
    '*  default model of its provider.',
    `${UNKNOWN}  unknown; features that need it are unavailable.`,
    'Late role: how notes of Hawser during a Session are sent, as developer or system messages or in those of the user.',
    'Prices are in US dollars per million tokens; long prompts can cost more.',
    `As of ${asOf}. Sources of the figures: hawser models --json`,
  ]
}

const UNKNOWN = '–'

function cellsOf({ id, provider, default: chosen, facts }: ModelRow): Line[] {
  const { window_tokens, output_tokens, images, files, late_role, prices } = facts
  const texts = [
    provider,
    tokensCell(window_tokens),
    tokensCell(output_tokens),
    yesOrNo(images),
    yesOrNo(files),
    price(prices?.input),
    price(prices?.output),
    late_role ?? UNKNOWN,
  ]
  const name = cell(chosen ? `${id} *` : id, chosen ? { bold: true } : {})
  return [name, ...texts.map((text) => cell(text))]
}

function tokensCell(tokens: number | undefined): string {
  return tokens === undefined ? UNKNOWN : groupDigits(tokens)
}

function yesOrNo(takes: boolean | undefined): string {
  if (takes === undefined) return UNKNOWN
  return takes ? 'yes' : 'no'
}

/** With two decimals, or more if they are significant. */
function price(dollars: number | undefined): string {
  if (dollars === undefined) return UNKNOWN
  const short = dollars.toFixed(2)
  return Number(short) === dollars ? short : String(dollars)
}
