import { countOf, groupDigits } from '../../../../encoding/amounts.ts'
import { lostCalls, turnCost } from '../../../../history/results/turn-result.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import type { EventType, WholeEvent } from '../../../../model/events/event.ts'
import { sentences } from '../../screen/rows.ts'
import { PLAIN, wrappedVerbatim, type Line } from '../../text/cell-width.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** What one Turn cost. */
export interface TurnCostFacts {
  /** Number of the Turn, from 1. */
  readonly number: number
  readonly title: string
  readonly input: number
  readonly cached_read: number
  readonly output: number
  /** Absent unless the price of every call is known. */
  readonly cost_usd: number | undefined
}

const READ: readonly EventType[] = [
  'turn_started',
  'user_message',
  'provider_request',
  'provider_usage',
  'turn_ended',
]

/** Earlier Turns are counted in the total only. */
const MOST_TURNS = 20

/** Shows what each Turn cost and how much of its prompts was cached, and the total of the Session. */
export async function costCommand({
  session,
  actions,
  columns,
}: CommandContext): Promise<Result<CommandResult>> {
  const turns: TurnCostFacts[] = []
  let own: WholeEvent[] = []
  const take = () => {
    if (own.length > 0) turns.push(costOf(own, turns.length + 1))
    own = []
  }
  const read = await actions.read?.(session.id, { types: READ }, ({ event }) => {
    if (event === undefined) return
    if (event.type === 'turn_started') take()
    if (event.turn_id !== undefined) own.push(event)
  })
  if (read?.ok === false) return read
  take()
  if (turns.length === 0)
    return ok({ rows: sentences('No Turn yet, so nothing was spent.', { columns }) })
  return ok({ rows: [[], ...costRows(turns, columns)] })
}

/** Pure. */
function costOf(own: readonly WholeEvent[], number: number): TurnCostFacts {
  const sum = { input: 0, cached_read: 0, output: 0 }
  for (const { type, data } of own) {
    if (type !== 'provider_usage') continue
    sum.input += data.usage.input
    sum.cached_read += data.usage.cached_read
    sum.output += data.usage.output
  }
  const message = own.find((event) => event.type === 'user_message')
  const text = message?.type === 'user_message' ? message.data.text : ''
  const cost_usd = lostCalls(own) > 0 ? undefined : turnCost(own)
  return { number, title: text.trim().split('\n')[0] ?? '', ...sum, cost_usd }
}

/** A table of the latest Turns, and the total of all. Pure. */
export function costRows(turns: readonly TurnCostFacts[], columns: number): Line[] {
  const shown = turns.slice(-MOST_TURNS)
  const total = {
    input: sumOf(turns, 'input'),
    cached_read: sumOf(turns, 'cached_read'),
    output: sumOf(turns, 'output'),
  }
  const known = turns.flatMap(({ cost_usd }) => (cost_usd === undefined ? [] : [cost_usd]))
  const cost = known.length === 0 ? undefined : known.reduce((one, other) => one + other, 0)
  const cells = shown.map((turn) => [String(turn.number), ...figures(turn, turn.cost_usd)])
  const all = [[...HEADINGS], ...cells, ['', ...figures(total, cost)]]
  const widths = HEADINGS.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)))
  const row = (figuresOf: readonly string[], text: string, style = PLAIN): Line => {
    const padded = figuresOf.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  ')
    return wrappedVerbatim([{ text: `  ${padded}  ${visibleLine(text)}`, style }], columns)[0] ?? []
  }
  const unknown = turns.length - known.length
  const notes = [
    ...(shown.length < turns.length
      ? [`The latest ${shown.length} of ${countOf(turns.length, 'Turn')}; the total is of all.`]
      : []),
    ...(unknown > 0 ? [`The cost of ${countOf(unknown, 'Turn')} is unknown.`] : []),
  ]
  return [
    row(HEADINGS, '', { dim: true }),
    ...shown.map((turn, at) => row(cells[at] ?? [], turn.title)),
    row(['', ...figures(total, cost)], 'this Session', { bold: true }),
    ...notes.flatMap((text) => sentences(text, { columns, style: { dim: true } })),
  ]
}

const HEADINGS = ['Turn', 'in', 'cached', 'out', 'cost']

type Tokens = Pick<TurnCostFacts, 'input' | 'cached_read' | 'output'>

function figures({ input, cached_read, output }: Tokens, cost: number | undefined): string[] {
  const share = input === 0 ? '–' : `${Math.round((cached_read / input) * 100)} %`
  return [
    groupDigits(input),
    share,
    groupDigits(output),
    cost === undefined ? '–' : `$${cost.toFixed(4)}`,
  ]
}

function sumOf(turns: readonly TurnCostFacts[], name: keyof Tokens): number {
  return turns.reduce((all, turn) => all + turn[name], 0)
}
