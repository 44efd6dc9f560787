import * as z from 'zod'
import { countOf } from '../../../../encoding/amounts.ts'
import { ContextSource } from '../../../../model/events/context-source.ts'
import type { InstalledSkills } from '../../../../session/workspace/installed-skills.ts'
import { paintLine, type Line } from '../../text/cell-width.ts'
import { cell, inColumns } from '../../text/columns.ts'
import { lineLabel } from '../../text/skill-lines.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer, wantsColour } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { SKILLS } from '../../definitions/skills.ts'
import { inSkills } from '../../world/skills-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  workspace: z.string(),
  skills: z
    .array(
      z.object({
        name: z.string(),
        root: z.string().describe('The folder that was searched.'),
        path: z.string().describe('Of its SKILL.md.'),
        trust: z
          .enum(['user', 'trusted', 'untrusted'])
          .describe('The rest of an untrusted Skill is empty: what it declares has no effect.'),
        changed: z.literal(true).optional().describe('It changed since it was trusted.'),
        description: z.string(),
        when_to_use: z.string().optional(),
        for_model: z.boolean().describe('False if only a person may activate it.'),
        context_sources: z.array(ContextSource),
        allowed_tools: z.array(z.string()),
        metadata: z.record(z.string(), z.string()),
      }),
    )
    .describe('Sorted by name.'),
  shadowed: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      by: z.string().describe('The SKILL.md that is used instead.'),
    }),
  ),
  warnings: z.array(z.object({ path: z.string(), line: z.int().optional(), message: z.string() })),
})

type SkillListing = Awaited<ReturnType<InstalledSkills['list']>>

/** Lists the Skills of a workspace. */
export const run: Run<typeof SKILLS> = async (world, input) =>
  inSkills(world, input.options, async (installed, workspace) => {
    const listed = await installed.list()
    const { skills, shadowed, warnings } = listed
    const entries = skills.map(({ forModel, ...skill }) => ({ ...skill, for_model: forModel }))
    const output = { workspace, skills: entries, shadowed, warnings }
    const colour = wantsColour(world, world.streams.stdout)
    return answer(world, output, () => words(listed, colour))
  })

function words({ skills, shadowed, warnings }: SkillListing, colour: boolean): string {
  const untrusted = skills.filter(({ trust }) => trust === 'untrusted')
  const parts = [
    skills.length === 0 ? [NONE] : tableOf(skills, colour),
    untrusted.length === 0
      ? []
      : [
          `The model sees only the names of ${countOf(untrusted.length, 'untrusted Skill')}. To see what one may do and trust it: hawser skills trust NAME`,
        ],
    skills
      .filter(({ changed }) => changed === true)
      .map(
        ({ name }) =>
          `${name} changed since it was trusted. To see it and trust it again: hawser skills trust ${name}`,
      ),
    shadowed.map(
      ({ name, path, by }) =>
        `Hidden: ${visibleLine(path)} (${visibleLine(by)} is the Skill ${visibleLine(name)}; rename a folder to use both)`,
    ),
    warnings.map(
      ({ path, line, message }) => `Warning: ${lineLabel(path, line)}: ${visibleLine(message)}`,
    ),
  ]
  const filled = parts.filter((lines) => lines.length > 0)
  return filled.map((lines) => lines.map((line) => `${line}\n`).join('')).join('\n')
}

const NONE =
  'No Skills. Write one in ~/.agents/skills/NAME/SKILL.md, and check it: hawser skills check PATH'

const DESCRIPTION_CELLS = 80

function tableOf(skills: SkillListing['skills'], colour: boolean): string[] {
  const header = ['Name', 'Where', 'Trust', 'Description'].map((text) => cell(text, { dim: true }))
  const rows = skills.map(({ name, root, trust, changed, description }): Line[] => [
    cell(name),
    cell(root),
    cell(changed === true ? 'changed' : trust, trust === 'untrusted' ? { colour: 'yellow' } : {}),
    cell(trust === 'untrusted' ? '-' : description, {}, DESCRIPTION_CELLS),
  ])
  return inColumns([header, ...rows], []).map((line) => paintLine(line, colour))
}
