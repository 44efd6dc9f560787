import { notCoveredWords, uncoveredLines } from '../../../../history/ran-commands.ts'
import { causeOf, ok, type Result } from '../../../../model/errors.ts'
import type { UndoOptions, UndoResult } from '../../../../session/changes/undo.ts'
import { turnNamed } from '../../../../session/workspace/session-reference.ts'
import { sentences } from '../../screen/rows.ts'
import { inChat } from '../../text/chat-forms.ts'
import { restoredFiles, restoredLines } from '../../text/undo-words.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/**
 * Restores the files of a Turn, by default of the last one that changed any, which its Event shows. Asks if commands ran since whose
 * changes are not known, and about files that something else changed since.
 */
export async function undo(context: CommandContext, argument = ''): Promise<Result<CommandResult>> {
  const { session, actions, columns, confirm } = context
  const [, onwards, named] = /^(to )?(.*)$/.exec(argument.trim()) ?? []
  const turn = await turnNamed(actions, session, named === '' ? undefined : named)
  if (!turn.ok) return turn
  const options = onwards === undefined ? {} : { onwards: true }
  let undone = await session.undo(turn.value, options)
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
  const done = await afterConflict(context, undone, ({ undone_turn_id }, force) =>
    session.undo(undone_turn_id ?? turn.value, { ...options, ...force }),
  )
  if (!done.ok) return done
  const lines = uncoveredLines(done.value.uncovered)
  const texts = [
    ...(lines.length === 0
      ? []
      : [`What these commands changed is not recorded and stays: ${lines.join('; ')}.`]),
    notCoveredWords(done.value.notCovered),
  ].filter((text) => text !== '')
  return ok({ rows: texts.flatMap((text) => sentences(visibleLine(text), { columns })) })
}

/** Reverses the last undo, which its Event shows. */
export async function redo(context: CommandContext): Promise<Result<CommandResult>> {
  const { session } = context
  const done = await afterConflict(context, await session.redo(), (_first, force) =>
    session.redo(force),
  )
  return done.ok ? ok({ rows: [] }) : done
}

async function afterConflict(
  { confirm }: CommandContext,
  first: Result<UndoResult>,
  again: (first: UndoResult, force: Pick<UndoOptions, 'force'>) => Promise<Result<UndoResult>>,
): Promise<Result<UndoResult>> {
  if (!first.ok) return first
  const left = restoredFiles(first.value).filter(({ outcome }) => outcome === 'changed_since')
  if (left.length === 0) return first
  const yes = await confirm({
    title: 'Overwrite these files?',
    lines: restoredLines(left),
    reason: 'something else changed them since',
  })
  return yes ? again(first.value, { force: true }) : first
}
