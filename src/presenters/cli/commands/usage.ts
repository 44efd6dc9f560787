import * as z from 'zod'
import { failed, ok, type HawserError, type Result } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import type { Harness } from '../../../session/harness.ts'
import {
  NO_CALLS,
  UsageTable,
  type UsageRow,
  type UsageSum,
} from '../../../session/queries/usage.ts'
import { answer, wantsColour } from '../world/answer.ts'
import { terminalText, type Line } from '../text/cell-width.ts'
import { countOf, groupDigits } from '../../../encoding/amounts.ts'
import { cell, inColumns } from '../text/columns.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { USAGE } from '../definitions/sessions.ts'
import { failureAsText } from '../world/failure.ts'
import { withProgress } from '../render/progress.ts'
import { sessionNamed } from '../../../session/workspace/session-reference.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const sum = {
  calls: Count,
  input: Count.describe('All prompt tokens, cached ones included.'),
  cached_read: Count,
  cache_write: Count,
  output: Count,
  reasoning: Count,
  cost_usd: z.number().describe('For the calls whose cost is known.'),
  calls_without_cost: Count,
  unknown_calls: Count.optional().describe(
    'Calls that were running when Hawser stopped. The provider may have charged for them; they are not included.',
  ),
  peak_ratio: z
    .number()
    .nonnegative()
    .optional()
    .describe(
      'The largest share of its context window that a call filled, if the window is known.',
    ),
}

export const Output = z.object({
  ok: z.literal(true),
  rows: z.array(z.object({ day: z.iso.date().describe('UTC'), model: z.string(), ...sum })),
  total: z.object(sum),
  sessions: Count.describe('Sessions whose Logs were read.'),
  damaged: z.array(SessionId).describe('Damaged Sessions, counted up to the damage.'),
})
type UsageOutput = Omit<z.infer<typeof Output>, 'ok'>

/** Shows the usage of the Sessions of a folder, by day and model. */
export const run: Run<typeof USAGE> = async (world, input) => {
  const nothing: UsageOutput = { rows: [], total: { ...NO_CALLS }, sessions: 0, damaged: [] }
  return inWorkspace(world, input.options, (opened) => usage(world, opened, input), {
    ifUnused: () => answer(world, nothing, () => NOTHING),
  })
}

const NOTHING = 'No model calls yet.\n'

async function usage(
  world: CliWorld,
  { harness, settings }: OpenWorkspace,
  { options: { since, session, json } }: CommandInput<typeof USAGE>,
): Promise<Result<number>> {
  if (since !== undefined && !z.iso.date().safeParse(since).success) {
    return failed('invalid_args', '--since must be a date, for example 2026-01-31.')
  }
  const table = new UsageTable(since)
  const read = await withProgress(world, 'Reading the Logs', () => readAll(harness, session, table))
  if (!read.ok) return read
  const { sessions, damages } = read.value
  if (!json) for (const { error } of damages) world.streams.stderr.write(failureAsText({ error }))
  const { rows, total } = table
  const used = { rows, total, sessions, damaged: damages.map(({ id }) => id) }
  const colour = wantsColour(world, world.streams.stdout, settings.settings.display?.colour)
  return answer(world, used, () => words(rows, total, colour))
}

interface Reading {
  readonly sessions: number
  readonly damages: readonly { readonly id: SessionId; readonly error: HawserError }[]
}

async function readAll(
  harness: Harness,
  named: string | undefined,
  table: UsageTable,
): Promise<Result<Reading>> {
  const only = named === undefined ? undefined : await sessionNamed(harness, named)
  if (only?.ok === false) return only
  // The oldest first: a salvaged Session repeats calls of its original, which must be counted first.
  const ids =
    only === undefined ? (await harness.list()).map(({ id }) => id).toSorted() : [only.value]
  const damages: { id: SessionId; error: HawserError }[] = []
  let sessions = 0
  const elsewhere = new Set(ids)
  for (const id of ids) {
    const read = await harness.usage(id, table, elsewhere)
    // Another process deleted it after the Sessions were listed.
    if (!read.ok && read.error.kind === 'not_found' && only === undefined) continue
    if (!read.ok && read.error.kind !== 'log_damaged') return read
    sessions += 1
    const error = read.ok ? read.value.damage : read.error
    if (error !== undefined) damages.push({ id, error })
  }
  return ok({ sessions, damages })
}

function words(rows: readonly UsageRow[], total: UsageSum, colour: boolean): string {
  if (rows.length === 0) return NOTHING
  const header = HEADER.map((text) => cell(text, { dim: true }))
  const all = [
    header,
    ...rows.map((row) => [cell(row.day), cell(row.model), ...figures(row)]),
    [cell('Total', { bold: true }), cell(''), ...figures(total)],
  ]
  const lines = terminalText(inColumns(all, ALIGN), colour)
  const { calls, calls_without_cost } = total
  const unknown =
    calls_without_cost === 0 || calls_without_cost === calls
      ? ''
      : `The cost of ${countOf(calls_without_cost, 'call')} is unknown and not included.\n`
  return lines + unknown + lostWords(total)
}

function lostWords({ unknown_calls = 0 }: UsageSum): string {
  if (unknown_calls === 0) return ''
  const [calls, them] =
    unknown_calls === 1 ? ['call was', 'it; it is'] : ['calls were', 'them; they are']
  return `${groupDigits(unknown_calls)} ${calls} running when Hawser stopped. The provider may have charged for ${them} not included.\n`
}

const HEADER = [
  'Day (UTC)',
  'Model',
  'Calls',
  'Input',
  'Cached',
  'Output',
  'Reasoning',
  'Peak window',
  'Cost',
]
const ALIGN = [
  'left',
  'left',
  'right',
  'right',
  'right',
  'right',
  'right',
  'right',
  'right',
] as const

function figures(of: UsageSum): Line[] {
  const cached = of.input === 0 ? '-' : `${Math.round((of.cached_read / of.input) * 100)} %`
  const peak = of.peak_ratio === undefined ? '-' : `${Math.floor(of.peak_ratio * 100)} %`
  const cost = of.calls_without_cost === of.calls ? '-' : `$${of.cost_usd.toFixed(4)}`
  const [calls, input, output, reasoning] = [of.calls, of.input, of.output, of.reasoning].map(
    groupDigits,
  )
  return [calls, input, cached, output, reasoning, peak, cost].map((text) => cell(text ?? ''))
}
