import * as z from 'zod'
import { InstanceId } from '../../../../model/ids.ts'
import { unlessConfirmed } from '../../input/confirm.ts'
import { withProgress } from '../../render/progress.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { INSTANCE_DELETE } from '../../definitions/instances.ts'
import { aboutInstance, instancesOf } from './instances-place.ts'

export const Output = z.object({ ok: z.literal(true), id: InstanceId })

/** Deletes an Instance permanently, after confirmation at the terminal or with `--yes`. */
export const run: Run<typeof INSTANCE_DELETE> = async (world, { args: [name], options }) => {
  const tether = instancesOf(world)
  const found = await aboutInstance(tether, name, tether.info(name))
  if (!found.ok) return found
  const { id, handle } = found.value
  const refused = options.yes
    ? undefined
    : await unlessConfirmed(world, {
        question: `Delete the Instance ${handle} with all its messages permanently?`,
        command: `hawser instance delete ${handle} --yes`,
        withoutTerminal:
          'Deleting an Instance is permanent, and there is no terminal to confirm it. Pass --yes.',
        details: { instance: handle },
        withoutYes: 'nothing was deleted',
      })
  if (refused !== undefined) return refused
  // By id: another one may have got the handle meanwhile.
  const deleted = await withProgress(world, 'Deleting the Instance', () => tether.delete(id))
  if (!deleted.ok) return deleted
  return answer(world, { id }, () => `Deleted the Instance ${handle}.\n`)
}
