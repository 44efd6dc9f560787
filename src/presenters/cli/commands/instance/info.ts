import { definedFields } from '../../../../model/fields/defined-fields.ts'
import * as z from 'zod'
import { answer } from '../../world/answer.ts'
import { recordsOf } from '../../world/instance-records.ts'
import type { Run } from '../../world/command.ts'
import type { INSTANCE_INFO } from '../../definitions/instances.ts'
import { infoWords, InstanceOutput } from './instance-words.ts'
import { aboutInstance, instancesOf } from './instances-place.ts'

export const Output = InstanceOutput.extend({
  records: z.string().optional().describe('Where its Sessions and blobs are.'),
})

/** Shows one Instance. */
export const run: Run<typeof INSTANCE_INFO> = async (world, { args: [name] }) => {
  const tether = instancesOf(world)
  const found = await aboutInstance(tether, name, tether.info(name))
  if (!found.ok) return found
  const records = await recordsOf(world, found.value.id)
  const output = { instance: found.value, ...definedFields({ records }) }
  return answer(world, output, () => infoWords(found.value, records))
}
