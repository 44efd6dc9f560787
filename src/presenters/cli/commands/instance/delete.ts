import * as z from 'zod'
import { failed, type Failed } from '../../../../model/errors.ts'
import { InstanceId } from '../../../../model/ids.ts'
import { canAsk, askToConfirm } from '../../input/confirm.ts'
import { withProgress } from '../../render/progress.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { INSTANCE_DELETE } from '../../definitions/instances.ts'
import { aboutInstance, instancesOf } from './instances-place.ts'

export const Output = z.object({ ok: z.literal(true), id: InstanceId })

/** Deletes an Instance permanently, after confirmation at the terminal or with `--yes`. */
export const run: Run<typeof INSTANCE_DELETE> = async (world, { args: [name], options }) => {
  const { yes } = options
  const tether = instancesOf(world)
  const found = await aboutInstance(tether, name, tether.info(name))
  if (!found.ok) return found
  const { id, handle } = found.value
  if (!yes) {
    if (!canAsk(world.streams)) return nobodyToAsk(handle)
    const question = `Delete the Instance ${handle} with all its messages permanently?`
    const sure = await askToConfirm(world.streams, question)
    if (!sure) return failed('refused', 'Not confirmed; nothing was deleted.')
  }
  // By id: another one may have got the handle meanwhile.
  const deleted = await withProgress(world, 'Deleting the Instance', () => tether.delete(id))
  if (!deleted.ok) return deleted
  return answer(world, { id }, () => `Deleted the Instance ${handle}.\n`)
}

function nobodyToAsk(handle: string): Failed {
  return failed(
    'invalid_args',
    'Deleting an Instance is permanent, and there is no terminal to confirm it. Pass --yes.',
    { instance: handle },
    [{ action: 'Confirm with --yes.', command: `hawser instance delete ${handle} --yes` }],
  )
}
