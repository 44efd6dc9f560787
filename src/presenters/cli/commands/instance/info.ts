import * as z from 'zod'
import { ok } from '../../../../model/errors.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput } from '../../world/command.ts'
import type { CliWorld } from '../../world/world.ts'
import { infoWords, InstanceOutput } from './instance-words.ts'
import { aboutInstance, inInstances } from './instances-place.ts'

const InfoArgs = z.object({
  args: z.tuple([z.string()]),
  options: z.object({ json: z.boolean().default(false) }),
})

export const Output = InstanceOutput

/** Shows one Instance. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const {
    args: [name],
    options: { json },
  } = InfoArgs.parse(commandInput)
  return inInstances(world, json, async (tether) => {
    const found = await aboutInstance(tether, name, tether.info(name))
    if (!found.ok) return found
    return ok(answer(world, json, { instance: found.value }, () => infoWords(found.value)))
  })
}
