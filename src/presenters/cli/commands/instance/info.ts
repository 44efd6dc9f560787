import * as z from 'zod'
import { ok } from '../../../../model/errors.ts'
import { answer } from '../../world/answer.ts'
import { recordsOf } from '../../world/instance-records.ts'
import type { CommandInput } from '../../world/command.ts'
import type { CliWorld } from '../../world/world.ts'
import { infoWords, InstanceOutput } from './instance-words.ts'
import { aboutInstance, inInstances } from './instances-place.ts'

const InfoArgs = z.object({
  args: z.tuple([z.string()]),
  options: z.object({ json: z.boolean().default(false) }),
})

export const Output = InstanceOutput.extend({
  records: z.string().optional().describe('Where its Sessions and blobs are.'),
})

/** Shows one Instance. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const {
    args: [name],
    options: { json },
  } = InfoArgs.parse(commandInput)
  return inInstances(world, json, async (tether) => {
    const found = await aboutInstance(tether, name, tether.info(name))
    if (!found.ok) return found
    const records = await recordsOf(world, found.value.id)
    const output = { instance: found.value, ...(records === undefined ? {} : { records }) }
    return ok(answer(world, json, output, () => infoWords(found.value, records)))
  })
}
