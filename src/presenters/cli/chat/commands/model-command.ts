import { groupDigits } from '../../../../encoding/amounts.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import type { ModelRow } from '../../../../model/model-facts.ts'
import type { PickerOrder } from '../../pick/picker.ts'
import { sentences } from '../../screen/rows.ts'
import { inChat } from '../../text/chat-forms.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

interface NamedChoice {
  readonly provider: string
  readonly model: string
}

/** Lets the person choose a model, or changes to the one they name. A name that no catalogue has is asked about. */
export async function modelCommand(
  context: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const { session, actions } = context
  const { provider } = session.state
  if (actions.setModel === undefined) {
    if (argument === '') return ok({ rows: sentences(current(context), context) })
    return failed('invalid_args', 'Changing the model is not supported in this version.')
  }
  if (argument === '') {
    const rows = actions.models?.() ?? []
    if (rows.length === 0) return ok({ rows: sentences(current(context), context) })
    const choice = await context.pick(modelOrder(rows, session.state))
    return choice === undefined ? ok({ rows: [] }) : change(context, choice)
  }
  const [first = '', second] = argument.split(/\s+/)
  return change(
    context,
    second === undefined ? { provider, model: first } : { provider: first, model: second },
  )
}

/** The models, the current one chosen. Pure. */
function modelOrder(
  rows: readonly ModelRow[],
  { provider, model }: NamedChoice,
): PickerOrder<NamedChoice> {
  const at = rows.findIndex((row) => row.id === model && row.provider === provider)
  return {
    title: `Model (now ${model})`,
    first: Math.max(0, at),
    choices: rows.map((row) => ({
      value: { provider: row.provider, model: row.id },
      name: row.id,
      columns: [row.provider, windowWords(row), priceWords(row), imageWords(row)],
    })),
    preview: (chosen) => {
      const row = rows.find((one) => one.id === chosen.model && one.provider === chosen.provider)
      return row === undefined ? [] : [aboutModel(row)]
    },
  }
}

async function change(
  { session, actions, columns, confirm }: CommandContext,
  choice: NamedChoice,
): Promise<Result<CommandResult>> {
  const judged = actions.judgeModel?.(choice) ?? ok(undefined)
  if (!judged.ok) return judged
  if (judged.value !== undefined) {
    const isSure = await confirm({
      title: `Use the model ${choice.model}?`,
      lines: [inChat(judged.value)],
      reason: 'it is not in the catalogue',
    })
    if (!isSure)
      return failed('refused', `Not confirmed; this Session still uses ${session.state.model}.`)
  }
  const set = await actions.setModel?.(session, choice)
  if (set === undefined || !set.ok) return set ?? ok({ rows: [] })
  const text = judged.value === undefined ? undefined : set.value
  return ok({
    rows: text === undefined ? [] : sentences(inChat(text), { columns, style: WARNING }),
  })
}

function current({ session }: CommandContext): string {
  const { provider, model } = session.state
  return `This Session uses ${model} (${provider}).`
}

const WARNING = { colour: 'yellow' } as const
const UNKNOWN = '–'

function windowWords({ facts: { window_tokens } }: ModelRow): string {
  if (window_tokens === undefined) return UNKNOWN
  const thousands = Math.round(window_tokens / 1_000)
  return thousands >= 1_000 ? `${Math.round(thousands / 100) / 10}M` : `${thousands}k`
}

function priceWords({ facts: { prices } }: ModelRow): string {
  if (prices?.input === undefined || prices.output === undefined) return UNKNOWN
  return `$${prices.input}/$${prices.output}`
}

function imageWords({ facts: { images } }: ModelRow): string {
  if (images === undefined) return UNKNOWN
  return images ? 'images' : 'no images'
}

function aboutModel(row: ModelRow): string {
  const { window_tokens, prices } = row.facts
  const window =
    window_tokens === undefined
      ? 'unknown window'
      : `window of ${groupDigits(window_tokens)} tokens`
  const price =
    prices?.input === undefined || prices.output === undefined
      ? 'unknown price'
      : `$${prices.input} in and $${prices.output} out per million tokens`
  return [
    row.provider,
    window,
    price,
    row.facts.images === true ? 'takes images' : imageWords(row),
  ].join(' · ')
}
