import * as z from 'zod'
import { causeOf, failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { SessionId, TurnId } from '../../../model/ids.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { UndoOptions, UndoResult } from '../../../session/changes/undo.ts'
import type { Session } from '../../../session/session.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { UNDO } from '../definitions/changes.ts'
import { EXIT } from '../world/exit-code.ts'
import { withProgress } from '../render/progress.ts'
import { openNamed, turnNamed } from '../../../session/workspace/session-reference.ts'
import { canAsk, askToConfirm } from '../input/confirm.ts'
import { sessionAndTurn } from '../input/session-and-turn.ts'
import { uncoveredNote, UncoveredCommand, UncoveredPath } from '../text/uncovered-commands.ts'
import { isUndone, RestoredFile, restoredFiles, restoredLines } from '../text/undo-words.ts'
import { visibleText } from '../text/visible-text.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  turn_id: TurnId.optional().describe('The Turn whose file changes were undone.'),
  command_id: z.string().optional().describe('Your own command, if its changes were undone.'),
  onwards: z.literal(true).optional().describe('Also everything after that Turn was undone.'),
  all_restored: z.boolean(),
  files: z.array(RestoredFile),
  uncovered: z
    .array(UncoveredCommand)
    .describe('Commands of that Turn whose changes are not known.'),
  not_covered: z
    .array(UncoveredPath)
    .describe('What snapshots do not cover, not all of it if there is much.'),
})

/** Restores files to their content before a Turn. Exit code 1 if one of them could not be restored. */
export const run: Run<typeof UNDO> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => undo(world, opened, input))

async function undo(
  world: CliWorld,
  { harness }: OpenWorkspace,
  { args: [first, second], options: { json, to, force } }: CommandInput<typeof UNDO>,
): Promise<Result<number>> {
  const named = sessionAndTurn(first, second)
  if (to !== undefined && named.turn !== undefined)
    return failed('invalid_args', 'Pass a Turn or --to, not both.')
  const session = await openNamed(harness, named.session)
  if (!session.ok) return session
  const turn = await turnNamed(harness, session.value, to ?? named.turn)
  if (!turn.ok) return turn
  const undoing = (named_turn: TurnId | undefined, options: UndoOptions) =>
    withProgress(world, 'Restoring files', () => session.value.undo(named_turn, options))
  const options = { force, ...(to === undefined ? {} : { onwards: true }) }
  const first_try = await undoing(turn.value, options)
  const older = json || first_try.ok ? undefined : await confirmedTurn(world, first_try)
  const undone = older === undefined ? first_try : await undoing(older, options)
  const again = await afterConflict(world, undone, { json, force }, (one) =>
    undoing(one.undone_turn_id ?? turn.value, { ...options, force: true }),
  )
  return again.ok ? ok(tell(world, session.value, again.value, json)) : again
}

/** Asks at the terminal about files that something else changed since, and repeats with force. */
export async function afterConflict(
  world: CliWorld,
  first: Result<UndoResult>,
  { json, force }: { readonly json: boolean; readonly force: boolean },
  again: (first: UndoResult) => Promise<Result<UndoResult>>,
): Promise<Result<UndoResult>> {
  if (!first.ok || json || force || !canAsk(world.streams)) return first
  const left = restoredFiles(first.value).filter(({ outcome }) => outcome === 'changed_since')
  if (left.length === 0) return first
  world.streams.stderr.write(`${restoredLines(left).join('\n')}\n`)
  const question = 'Something else changed these files since. Overwrite them?'
  return (await askToConfirm(world.streams, question)) ? again(first.value) : first
}

/** Shows what was restored, and returns the exit code. */
export function tell(world: CliWorld, session: Session, done: UndoResult, json: boolean): number {
  const { undone_turn_id, undone_command_id, onwards, uncovered, notCovered } = done
  const files = restoredFiles(done)
  const all_restored = files.every(isUndone)
  const output = {
    session_id: session.id,
    ...definedFields({ turn_id: undone_turn_id, command_id: undone_command_id }),
    ...(onwards === true ? { onwards } : {}),
    all_restored,
    files: [...files],
    uncovered: [...uncovered],
    not_covered: [...notCovered.paths],
  }
  answer(world, output, () => words(session, done))
  if (!json) world.streams.stderr.write(uncoveredNote(done).join(''))
  return all_restored ? EXIT.done : EXIT.failed
}

/** The older Turn that the person confirms; `undefined` if commands are not the reason, or there is no one to ask. */
async function confirmedTurn(world: CliWorld, { error }: Failed): Promise<TurnId | undefined> {
  const cause = causeOf(error)
  if (cause?.type !== 'commands_since' || !canAsk(world.streams)) return undefined
  world.streams.stderr.write(`${visibleText(error.message)}\n`)
  const isConfirmed = await askToConfirm(
    world.streams,
    'Undo that Turn, and leave the rest as it is?',
  )
  return isConfirmed ? cause.turn : undefined
}

function words(session: Session, done: UndoResult): string {
  const { undone_turn_id, onwards, redo } = done
  const files = restoredFiles(done)
  const number = undone_turn_id === undefined ? undefined : numberOf(session, undone_turn_id)
  const what = number === undefined ? 'your last command' : `Turn ${number}`
  const title = `Files of ${what}${onwards === true ? ' and everything after it' : ''} of ${session.id}:`
  const shown = redo === true || number === undefined ? '' : ` ${number}`
  const hints = files.every(isUndone)
    ? redo === true
      ? []
      : [`To take it back: hawser redo ${session.id}`]
    : [
        `To see what was changed: hawser diff ${session.id}${shown}`,
        ...(files.some(({ outcome }) => outcome === 'changed_since')
          ? ['To overwrite what something else changed since: pass --force.']
          : []),
      ]
  return [title, ...restoredLines(files), ...hints, ''].join('\n')
}

/** Counted from 1. */
function numberOf({ events }: Session, turn: TurnId): number {
  const begun = events.filter(({ type }) => type === 'turn_started')
  return begun.findIndex(({ turn_id }) => turn_id === turn) + 1
}
