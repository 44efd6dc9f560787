import * as z from 'zod'
import { undoOutcome, type UndoOutcome } from '../../../history/file-changes.ts'
import { causeOf, ok, type Failed, type Result } from '../../../model/errors.ts'
import { SessionId, TurnId } from '../../../model/ids.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { Session } from '../../../session/session.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { UNDO } from '../definitions/changes.ts'
import { EXIT } from '../world/exit-code.ts'
import { withProgress } from '../render/progress.ts'
import { openNamed, turnNamed } from '../../../session/workspace/session-reference.ts'
import { canAsk, askToConfirm } from '../input/confirm.ts'
import { sessionAndTurn } from '../input/session-and-turn.ts'
import { uncoveredNote, UncoveredCommand } from '../text/uncovered-commands.ts'
import { visibleLine, visibleText } from '../text/visible-text.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

/** `removed`: it did not exist before the Turn; `changed_since`: left alone; `failed`: could not be read or written. */
const RestoredFile = z.object({
  path: z.string(),
  outcome: z.enum(['restored', 'removed', 'changed_since', 'failed']),
  why: z
    .string()
    .optional()
    .describe('`redacted`: its content contained a key, which is not stored.'),
})

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  turn_id: TurnId.describe('The Turn whose file changes were undone.'),
  all_restored: z.boolean(),
  files: z.array(RestoredFile),
  uncovered: z.array(UncoveredCommand).describe('Commands of that Turn.'),
})

/** Restores files to their content before a Turn. Exit code 1 if one of them could not be restored. */
export const run: Run<typeof UNDO> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => undo(world, opened, input))

async function undo(
  world: CliWorld,
  { harness }: OpenWorkspace,
  { args: [first, second], options: { json } }: CommandInput<typeof UNDO>,
): Promise<Result<number>> {
  const named = sessionAndTurn(first, second)
  const session = await openNamed(harness, named.session)
  if (!session.ok) return session
  const turn = await turnNamed(harness, session.value, named.turn)
  if (!turn.ok) return turn
  const undoing = (named_turn: TurnId | undefined) =>
    withProgress(world, 'Restoring files', () => session.value.undo(named_turn))
  const first_try = await undoing(turn.value)
  const older = json || first_try.ok ? undefined : await confirmedTurn(world, first_try)
  const restored = older === undefined ? first_try : await undoing(older)
  if (!restored.ok) return restored
  const { undone_turn_id, uncovered } = restored.value
  const files = restored.value.files.map((file) => {
    const { path, why } = file
    return { path, outcome: undoOutcome(file), ...definedFields({ why }) }
  })
  const all_restored = files.every(isUndone)
  const undone = { session_id: session.value.id, turn_id: undone_turn_id, all_restored, files }
  const output = { ...undone, uncovered: [...uncovered] }
  answer(world, output, () => words(session.value, undone_turn_id, files))
  if (!json) world.streams.stderr.write(uncoveredNote(uncovered).join(''))
  return ok(all_restored ? EXIT.done : EXIT.failed)
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

function words(
  session: Session,
  turn: TurnId,
  files: readonly z.infer<typeof RestoredFile>[],
): string {
  const number = numberOf(session, turn)
  const lines = files.map(
    ({ path, outcome, why }) =>
      `  ${(why === 'redacted' ? REDACTED : OUTCOMES[outcome]).padEnd(28)}  ${visibleLine(path)}`,
  )
  const left = !files.every(isUndone)
  const hint = `To see what the Turn changed: hawser diff ${session.id} ${number}`
  return [`Files of Turn ${number} of ${session.id}:`, ...lines, ...(left ? [hint] : []), ''].join(
    '\n',
  )
}

const OUTCOMES = {
  restored: 'restored',
  removed: 'removed',
  changed_since: 'not restored: changed since',
  failed: 'not restored: failed',
} as const satisfies Record<UndoOutcome, string>

const REDACTED = 'not restored: contained a key'

function isUndone({ outcome }: { readonly outcome: UndoOutcome }): boolean {
  return outcome === 'restored' || outcome === 'removed'
}

/** Counted from 1. */
function numberOf({ events }: Session, turn: TurnId): number {
  const begun = events.filter(({ type }) => type === 'turn_started')
  return begun.findIndex(({ turn_id }) => turn_id === turn) + 1
}
