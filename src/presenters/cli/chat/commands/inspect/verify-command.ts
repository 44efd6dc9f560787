import { ok, type Result } from '../../../../../model/errors.ts'
import { verdictLines, verdictOf } from '../../../render/verdict-lines.ts'
import { sentences } from '../../../screen/rows.ts'
import { inChat } from '../../chat-forms.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'

/** Verifies every byte of the Log, and composes every request again. Says meanwhile what it does. */
export async function verifyCommand({
  session,
  columns,
  progress,
}: CommandContext): Promise<Result<CommandResult>> {
  progress('Reading every byte of the Log, and composing every request again …')
  const proof = await session.verify({ requests: true })
  if (!proof.ok) return proof
  const verdict = verdictOf(session.id, proof.value)
  const style = verdict.whole ? {} : ({ style: { colour: 'red' } } as const)
  const rows = verdictLines(verdict, true).flatMap((text) =>
    sentences(inChat(text), { columns, ...style }),
  )
  return ok({ rows: [[], ...rows] })
}
