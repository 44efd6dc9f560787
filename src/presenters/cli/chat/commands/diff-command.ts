import { notCoveredWords, uncoveredLines } from '../../../../history/ran-commands.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import type { SessionDiff } from '../../../../session/changes/diff.ts'
import { turnNamed } from '../../../../session/workspace/session-reference.ts'
import { numberedDiff } from '../../render/diff-lines.ts'
import { patchOf } from '../../render/patch.ts'
import { head, sentences } from '../../screen/rows.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** More are in the transcript, by Turn. */
const MOST_ROWS = 1_000

/** Shows what tools and commands changed in the whole Session, up to now, or in one Turn. */
export async function diffCommand(
  { session, actions, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const now = argument === 'now'
  const named = argument === '' || now ? undefined : argument
  const turn = await turnNamed(actions, session, named)
  if (!turn.ok) return turn
  const diffs = await session.diff(turn.value, { now })
  if (!diffs.ok) return diffs
  const { files } = diffs.value
  const patches = files.map(patchOf).join('')
  const dim = { columns, style: { dim: true } }
  const notes = notesOf(diffs.value, named).flatMap((text) => sentences(visibleLine(text), dim))
  return ok({ rows: [[], ...head(numberedDiff(patches, columns), MOST_ROWS), ...notes] })
}

function notesOf(
  { files, uncovered, notCovered, undone }: SessionDiff,
  turn: string | undefined,
): string[] {
  const what = turn === undefined ? 'this Session' : `Turn ${turn}`
  const lines = uncoveredLines(uncovered)
  return [
    ...(undone ? [`${what} is undone: its changes are no longer in the files.`] : []),
    ...(files.length > 0 ? [] : [`No file was changed in ${what}.`]),
    ...(lines.length === 0
      ? []
      : [`What these commands changed is not recorded: ${lines.join('; ')}.`]),
    ...[notCoveredWords(notCovered)].filter((text) => text !== ''),
  ]
}
