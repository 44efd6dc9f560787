import { ok, type Result } from '../../../model/errors.ts'
import { openNamed } from '../../../session/workspace/session-reference.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { REDO } from '../definitions/changes.ts'
import { withProgress } from '../render/progress.ts'
import type { CommandInput, Run } from '../world/command.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { CliWorld } from '../world/world.ts'
import { afterConflict, tell } from './undo.ts'

export { Output } from './undo.ts'

/** Reverses the last undo. Exit code 1 if a file could not be restored. */
export const run: Run<typeof REDO> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => redo(world, opened, input))

async function redo(
  world: CliWorld,
  { harness }: OpenWorkspace,
  { args: [named], options: { json, force } }: CommandInput<typeof REDO>,
): Promise<Result<number>> {
  const session = await openNamed(harness, named)
  if (!session.ok) return session
  const redoing = (forced: boolean) =>
    withProgress(world, 'Restoring files', () => session.value.redo({ force: forced }))
  const first = await redoing(force)
  const done = await afterConflict(world, first, { json, force }, () => redoing(true))
  return done.ok ? ok(tell(world, session.value, done.value, json)) : done
}
