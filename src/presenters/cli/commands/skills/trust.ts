import * as z from 'zod'
import { ContextSource } from '../../../../model/events/context-source.ts'
import { Sha256 } from '../../../../model/ids.ts'
import { skillSummary, usableSkill } from '../../render/skill-summary.ts'
import { unlessSure } from '../../input/confirm.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { SKILLS_TRUST } from '../../definitions/skills.ts'
import { inSkills } from '../../world/skills-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  name: z.string(),
  path: z.string().describe('Of its SKILL.md.'),
  sha256: Sha256.describe('Of the SKILL.md that is trusted now.'),
  changed: z.boolean().describe('False if it needs no trust, or has it already.'),
  context_sources: z.array(ContextSource),
  allowed_tools: z.array(z.string()),
})

/** Trusts the content of a Skill of the repository in this workspace, after showing what it may do. */
export const run: Run<typeof SKILLS_TRUST> = async (world, { args: [name], options }) => {
  const { yes } = options
  return inSkills(world, options, async (installed) => {
    const shown = await usableSkill(installed, name)
    if (!shown.ok) return shown
    const { path, sha256, trust, fields } = shown.value
    const { context_sources, allowed_tools } = fields
    const output = { name, path, sha256, context_sources, allowed_tools }
    if (trust !== 'untrusted') {
      const why = trust === 'user' ? 'is your own Skill and needs no trust' : 'is already trusted'
      return answer(world, { ...output, changed: false }, () => `${name} ${why}.\n`)
    }
    const refused = await unlessSure(world, yes, {
      summary: `${skillSummary(shown.value).join('\n')}\n`,
      question: 'Trust this Skill, as it is now, in this workspace?',
      command: `hawser skills trust ${name} --yes`,
    })
    if (refused !== undefined) return refused
    // Only what was shown is trusted: a file that changed since has another hash.
    const trusted = await installed.trust(name, sha256)
    if (!trusted.ok) return trusted
    const words = () => `Trusted ${name}. To use it: hawser chat, then /${name}\n`
    return answer(world, { ...output, changed: true }, words)
  })
}
