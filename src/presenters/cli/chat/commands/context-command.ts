import { fileSize, groupDigits } from '../../../../encoding/amounts.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import type { SessionContext } from '../../../../session/queries/context.ts'
import { applyingWords } from '../../text/instruction-lines.ts'
import { windowShare } from '../../render/pressure-words.ts'
import { sentences } from '../../screen/rows.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** Shows how full the window of the model is, and with what. */
export async function contextCommand({
  session,
  columns,
}: CommandContext): Promise<Result<CommandResult>> {
  const found = await session.context()
  if (!found.ok) return found
  const lines = contextLines(found.value)
  return ok({ rows: [[], ...lines.flatMap((text) => sentences(text, { columns }))] })
}

/** Pure. */
export function contextLines(facts: SessionContext): string[] {
  const { model, window_tokens, recorded, next, parts, largest, limits, request_bytes } = facts
  const { instructions } = facts
  const window =
    window_tokens === undefined
      ? `The context window of ${model} is unknown, so its pressure is unavailable.`
      : `${model} has a context window of ${groupDigits(window_tokens)} tokens.`
  const filled = parts.map(({ part, bytes }) => `${part} ${fileSize(bytes)}`).join(', ')
  const named = largest.map(({ what, turn, bytes }) => `${what} (Turn ${turn}, ${fileSize(bytes)})`)
  return [
    window,
    recorded === undefined
      ? 'No call was made since the Session started or was compacted.'
      : `Last call: ${filling(recorded)}.`,
    `Next request, without your message, by estimate: ${filling(next)}.`,
    `It has ${fileSize(request_bytes)}: ${filled}.`,
    ...(named.length === 0 ? [] : [`Largest: ${named.join('; ')}.`]),
    ...(instructions.length === 0
      ? []
      : [`Project instructions: ${instructions.map(applyingWords).join('; ')}.`]),
    ...(window_tokens === undefined
      ? []
      : [
          `Notices from ${limits.advisory} % and ${limits.warning} %; compacted above ${limits.critical} %. To preview a compaction: /compact dry-run`,
        ]),
  ]
}

function filling({ tokens, ratio, tier }: SessionContext['next']): string {
  const share = ratio === undefined || tier === undefined ? '' : `, ${windowShare({ ratio, tier })}`
  return `${groupDigits(tokens)} tokens${share}`
}
