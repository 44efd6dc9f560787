import * as z from 'zod'
import type { Result } from '../../../model/errors.ts'
import { SessionId, TurnId } from '../../../model/ids.ts'
import { answer, wantsColour } from '../world/answer.ts'
import { terminalText } from '../text/cell-width.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { DIFF } from '../definitions/changes.ts'
import { uncoveredNote, UncoveredCommand, UncoveredPath } from '../text/uncovered-commands.ts'
import { diffLines } from '../render/diff-lines.ts'
import { patchOf } from '../render/patch.ts'
import { withProgress } from '../render/progress.ts'
import { openNamed, turnNamed } from '../../../session/workspace/session-reference.ts'
import { sessionAndTurn } from '../input/session-and-turn.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { SessionDiff } from '../../../session/changes/diff.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const ChangedFile = z.object({
  path: z.string(),
  change: z.enum(['created', 'changed', 'removed']),
  text: z.boolean().describe('Both versions are available and are text.'),
  diff: z.string().describe('A patch for `patch -p1`; one line if `text` is false.'),
})

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  turn_id: TurnId.optional().describe('The requested Turn.'),
  undone: z
    .boolean()
    .optional()
    .describe('The requested Turn is undone: its changes are no longer in the files.'),
  files: z
    .array(ChangedFile)
    .describe('Without a Turn: the changes of the Session, except those that were undone.'),
  uncovered: z.array(UncoveredCommand),
  not_covered: z
    .array(UncoveredPath)
    .describe('What snapshots do not cover, not all of it if there is much.'),
})

/** Shows the file changes of a Session or of one Turn: readable on a terminal, otherwise as input for `patch -p1`. */
export const run: Run<typeof DIFF> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => show(world, opened, input))

async function show(
  world: CliWorld,
  { harness, settings: { settings } }: OpenWorkspace,
  { args: [first, second], options: { json, now } }: CommandInput<typeof DIFF>,
): Promise<Result<number>> {
  const named = sessionAndTurn(first, second)
  const session = await openNamed(harness, named.session)
  if (!session.ok) return session
  const turn = await turnNamed(harness, session.value, named.turn)
  if (!turn.ok) return turn
  const diffs = await withProgress(world, 'Comparing files', () =>
    session.value.diff(turn.value, { now }),
  )
  if (!diffs.ok) return diffs
  const { uncovered, notCovered, undone } = diffs.value
  const files = diffs.value.files.map((file) => {
    const { path, change, text } = file
    return { path, change, text, diff: patchOf(file) }
  })
  if (!json) world.streams.stderr.write(notes(diffs.value, turn.value).join(''))
  const named_turn = turn.value === undefined ? {} : { turn_id: turn.value, undone }
  const output = {
    session_id: session.value.id,
    ...named_turn,
    files,
    uncovered: [...uncovered],
    not_covered: [...notCovered.paths],
  }
  const whole = () => files.map(({ diff }) => diff).join('')
  return answer(world, output, () => diffText(world, whole(), settings.display?.colour))
}

/** What the diff does not show; standard output is input for `patch`. */
function notes(diff: SessionDiff, turn: TurnId | undefined): readonly string[] {
  const { files, undone } = diff
  const what = turn === undefined ? 'this Session' : 'this Turn'
  return [
    ...(undone ? ['hawser: this Turn is undone; its changes are no longer in the files.\n'] : []),
    ...(files.length > 0 ? [] : [`hawser: ${what} has no file changes.\n`]),
    ...uncoveredNote(diff),
  ]
}

/** Unchanged for programs; on a terminal, with control characters escaped. */
function diffText(world: CliWorld, diff: string, setting?: 'auto' | 'always' | 'never'): string {
  const { stdout } = world.streams
  const colour = wantsColour(world, stdout, setting)
  if (!colour && !stdout.isTTY) return diff
  return terminalText(diffLines(diff, stdout.columns), colour)
}
