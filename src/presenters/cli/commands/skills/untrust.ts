import * as z from 'zod'
import { ok } from '../../../../model/errors.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput } from '../../world/command.ts'
import { inSkills } from '../../world/skills-place.ts'
import type { CliWorld } from '../../world/world.ts'

const UntrustArgs = z.object({
  args: z.tuple([z.string()]),
  options: z.object({ json: z.boolean().default(false) }),
})

export const Output = z.object({
  ok: z.literal(true),
  name: z.string(),
  changed: z.boolean().describe('False if it was not trusted in this workspace.'),
})

/** Ends the trust in a Skill of the repository, also in one that no longer exists. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const {
    args: [name],
    options: { json },
  } = UntrustArgs.parse(commandInput)
  return inSkills(world, commandInput, async (installed) => {
    const changed = await installed.untrust(name)
    if (!changed.ok) return changed
    const done = changed.value ? 'is no longer trusted' : 'was not trusted'
    const words = () => `${visibleLine(name)} ${done} in this workspace.\n`
    return ok(answer(world, json, { name, changed: changed.value }, words))
  })
}
