import * as z from 'zod'
import { countOf } from '../../../../encoding/amounts.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import type { InstalledSkills } from '../../../../session/workspace/installed-skills.ts'
import { wholePath } from '../../input/whole-path.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { SKILLS_CHECK } from '../../definitions/skills.ts'
import { EXIT } from '../../world/exit-code.ts'
import { inSkills } from '../../world/skills-place.ts'
import { lineLabel } from '../../text/skill-lines.ts'

export const Output = z.object({
  ok: z.literal(true),
  name: z.string(),
  path: z.string().describe('Of the SKILL.md that was checked.'),
  usable: z.boolean().describe('False if there is an error; then the exit code is 1.'),
  context_sources: z.array(z.string()).describe('The ids of its context sources.'),
  findings: z
    .array(
      z.object({
        severity: z.enum(['error', 'warning']),
        line: z.int(),
        message: z.string(),
      }),
    )
    .describe('By line.'),
  denied_sources: z
    .array(z.object({ id: z.string(), reason: z.string() }))
    .describe('Context sources that every activation refuses to hydrate.'),
})

type SkillCheck = Extract<Awaited<ReturnType<InstalledSkills['check']>>, { ok: true }>['value']

/** Checks a SKILL.md without running or trusting anything. */
export const run: Run<typeof SKILLS_CHECK> = async (world, { args: [typed] }) =>
  inSkills(world, {}, async (installed): Promise<Result<number>> => {
    const path = wholePath(world, typed)
    if (!path.ok) return path
    const checked = await installed.check(path.value)
    if (!checked.ok) return checked
    const { name, path: file, fields, findings, deniedSources } = checked.value
    const usable = fields !== undefined
    const context_sources = (fields?.context_sources ?? []).map(({ id }) => id)
    const denied_sources = [...deniedSources]
    const output = { name, path: file, usable, context_sources, findings, denied_sources }
    answer(world, output, () => words(checked.value))
    return ok(usable ? EXIT.done : EXIT.failed)
  })

function words({ name, path, fields, findings, deniedSources }: SkillCheck): string {
  const lines = findings.map(
    ({ severity, line, message }) =>
      `${lineLabel(path, line)}: ${severity}: ${visibleLine(message)}\n`,
  )
  const sources = countOf(fields?.context_sources.length ?? 0, 'context source')
  const always = `, ${deniedSources.length} of which ${deniedSources.length === 1 ? 'is' : 'are'} always denied`
  const result =
    fields === undefined
      ? 'not usable'
      : `usable, with ${sources}${deniedSources.length === 0 ? '' : always}`
  const refused = deniedSources.map(
    ({ id, reason }) =>
      `Context source ${visibleLine(id)}: denied with every activation: ${visibleLine(reason)}.\n`,
  )
  return `${lines.join('')}${refused.join('')}The Skill ${visibleLine(name)} is ${result}.\n`
}
