import { uncoveredLines } from '../../../../history/ran-commands.ts'
import { causeOf, ok, type Result } from '../../../../model/errors.ts'
import { turnNamed } from '../../../../session/workspace/session-reference.ts'
import { sentences } from '../../screen/rows.ts'
import { inChat } from '../chat-forms.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** Restores the files of a Turn, by default of the last one that changed any, which its Event shows. Asks if commands ran since. */
export async function undo(context: CommandContext, argument = ''): Promise<Result<CommandResult>> {
  const { session, actions, columns, confirm } = context
  const turn = await turnNamed(actions, session, argument === '' ? undefined : argument)
  if (!turn.ok) return turn
  let undone = await session.undo(turn.value)
  const cause = undone.ok ? undefined : causeOf(undone.error)
  if (!undone.ok && cause?.type === 'commands_since') {
    const yes = await confirm({
      title: 'Undo an older Turn, and leave the rest as it is?',
      lines: [inChat(undone.error.message)],
      reason: 'commands ran since, and what they changed is not recorded',
    })
    if (!yes) return ok({ rows: sentences('Nothing was undone.', { columns }) })
    undone = await session.undo(cause.turn)
  }
  if (!undone.ok) return undone
  const lines = uncoveredLines(undone.value.uncovered)
  if (lines.length === 0) return ok({ rows: [] })
  const text = `What these commands changed is not recorded and stays: ${lines.join('; ')}.`
  return ok({ rows: sentences(visibleLine(text), { columns }) })
}
