import { fileSize, groupDigits } from '../../../../encoding/amounts.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import type { SessionContext } from '../../../../session/queries/context.ts'
import { windowShare } from '../../render/pressure-words.ts'
import { sentences } from '../../screen/rows.ts'
import { PLAIN, wrappedVerbatim, type Colour, type Line } from '../../text/cell-width.ts'
import { inColumns } from '../../text/columns.ts'
import { applyingWords } from '../../text/instruction-lines.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** Shows how full the window of the model is, and with what. */
export async function contextCommand({
  session,
  columns,
}: CommandContext): Promise<Result<CommandResult>> {
  const found = await session.context()
  return found.ok ? ok({ rows: [[], ...contextRows(found.value, columns)] }) : found
}

/** The window as a bar, the parts of the next request as a table, and what is largest. Pure. */
export function contextRows(facts: SessionContext, columns: number): Line[] {
  const { model, window_tokens, recorded, next, largest, limits, instructions } = facts
  const say = (text: string) => sentences(text, { columns })
  const aside = (text: string) => sentences(text, { columns, style: { dim: true } })
  const named = largest.map(({ what, turn, bytes }) => `${what} (Turn ${turn}, ${fileSize(bytes)})`)
  return [
    ...say(
      window_tokens === undefined
        ? `The context window of ${model} is unknown, so its pressure is unavailable.`
        : `${model} has a context window of ${groupDigits(window_tokens)} tokens.`,
    ),
    ...(next.ratio === undefined ? [] : [windowBar(next.ratio, next.tier, columns)]),
    ...say(
      recorded === undefined
        ? 'No call was made since the Session started or was compacted.'
        : `Last call: ${filling(recorded)}.`,
    ),
    ...say(`Next request, without your message, by estimate: ${filling(next)}.`),
    [],
    ...partRows(facts, columns),
    ...(named.length === 0 ? [] : [[], ...say(`Largest: ${named.join('; ')}.`)]),
    ...(instructions.length === 0
      ? []
      : say(`Project instructions: ${instructions.map(applyingWords).join('; ')}.`)),
    ...(window_tokens === undefined
      ? []
      : aside(
          `Notices from ${limits.advisory} % and ${limits.warning} %; compacted above ${limits.critical} %. To preview a compaction: /compact dry-run`,
        )),
  ]
}

const LONGEST_BAR = 50
const PART_BAR = 20
const FULL = '█'
const FREE = '░'

const TIER_COLOURS: Readonly<Record<string, Colour>> = {
  advisory: 'yellow',
  warning: 'yellow',
  critical: 'red',
}

function windowBar(ratio: number, tier = '', columns: number): Line {
  const width = Math.max(1, Math.min(columns, LONGEST_BAR))
  const full = Math.min(width, Math.ceil(ratio * width))
  return [
    { text: FULL.repeat(full), style: { colour: TIER_COLOURS[tier] ?? 'green' } },
    { text: FREE.repeat(width - full), style: { dim: true } },
  ]
}

/** Each part of the next request with its size, the largest first as they come, and all of it. */
function partRows({ parts, request_bytes }: SessionContext, columns: number): Line[] {
  const rows = parts.map(({ part, bytes }) => {
    const share = request_bytes === 0 ? 0 : bytes / request_bytes
    const bar = FULL.repeat(Math.round(share * PART_BAR))
    return [
      plain(`  ${visibleLine(part)}`),
      plain(fileSize(bytes)),
      plain(`${Math.round(share * 100)} %`),
      [{ text: bar, style: { colour: 'cyan' } }] satisfies Line,
    ]
  })
  const all = [plain('  in all'), plain(fileSize(request_bytes))]
  const lines = inColumns([...rows, all], ['left', 'right', 'right', 'left'])
  return lines.flatMap((line) => wrappedVerbatim(line, columns).slice(0, 1))
}

function plain(text: string): Line {
  return [{ text, style: PLAIN }]
}

function filling({ tokens, ratio, tier }: SessionContext['next']): string {
  const share = ratio === undefined || tier === undefined ? '' : `, ${windowShare({ ratio, tier })}`
  return `${groupDigits(tokens)} tokens${share}`
}
