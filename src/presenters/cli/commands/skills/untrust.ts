import * as z from 'zod'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { SKILLS_UNTRUST } from '../../definitions/skills.ts'
import { inSkills } from '../../world/skills-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  name: z.string(),
  changed: z.boolean().describe('False if it was not trusted in this workspace.'),
})

/** Ends the trust in a Skill of the repository, also in one that no longer exists. */
export const run: Run<typeof SKILLS_UNTRUST> = async (world, { args: [name], options }) =>
  inSkills(world, options, async (installed) => {
    const changed = await installed.untrust(name)
    if (!changed.ok) return changed
    const done = changed.value ? 'is no longer trusted' : 'was not trusted'
    const words = () => `${visibleLine(name)} ${done} in this workspace.\n`
    return answer(world, { name, changed: changed.value }, words)
  })
