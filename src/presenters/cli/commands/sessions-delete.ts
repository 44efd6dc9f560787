import * as z from 'zod'
import type { Result } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import { countOf } from '../../../encoding/amounts.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { SESSIONS_DELETE } from '../definitions/sessions.ts'
import { unlessConfirmed } from '../input/confirm.ts'
import { sessionNamed } from '../../../session/workspace/session-reference.ts'
import { visibleLine } from '../text/visible-text.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

export const Output = z.object({ ok: z.literal(true), session_id: SessionId })

/** Deletes a Session permanently, after confirmation at the terminal or with `--yes`. */
export const run: Run<typeof SESSIONS_DELETE> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => deleteOne(world, opened, input))

async function deleteOne(
  world: CliWorld,
  { harness }: OpenWorkspace,
  { args: [named], options: { yes } }: CommandInput<typeof SESSIONS_DELETE>,
): Promise<Result<number>> {
  const id = await sessionNamed(harness, named)
  if (!id.ok) return id
  const session = await harness.find(id.value)
  if (!session.ok) return session
  const session_id = id.value
  const refused = yes
    ? undefined
    : await unlessConfirmed(world, {
        question: question(session.value),
        command: `hawser sessions delete ${session_id} --yes`,
        withoutTerminal:
          'Deleting a Session is permanent, and there is no terminal to confirm it. Pass --yes.',
        details: { session_id },
        withoutYes: 'nothing was deleted',
      })
  if (refused !== undefined) return refused
  const deleted = await harness.delete(session_id)
  if (!deleted.ok) return deleted
  return answer(world, { session_id }, () => `Deleted ${session_id}.\n${HINT}`)
}

const HINT = 'To delete stored blobs that no Session uses: hawser gc\n'

function question({ id, state: { title, turns } }: ListedSession): string {
  return `Delete ${id} (${visibleLine(title)}; ${countOf(turns, 'Turn')}) permanently?`
}
