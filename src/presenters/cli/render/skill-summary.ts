import { quote } from '../../../encoding/quote.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import type { InstalledSkills } from '../../../session/workspace/installed-skills.ts'
import { visibleLine } from '../text/visible-text.ts'

type SkillExamination = Extract<
  Awaited<ReturnType<InstalledSkills['examine']>>,
  { ok: true }
>['value']
type Usable = SkillExamination & { readonly fields: NonNullable<SkillExamination['fields']> }

/** A Skill as it is now, before a person trusts it. */
export async function usableSkill(
  installed: Pick<InstalledSkills, 'examine'>,
  name: string,
): Promise<Result<Usable>> {
  const examined = await installed.examine(name)
  if (!examined.ok) return examined
  const { fields, findings, path } = examined.value
  if (fields !== undefined) return ok({ ...examined.value, fields })
  const first = findings.find(({ severity }) => severity === 'error')
  const why = first === undefined ? '' : ` Line ${first.line}: ${first.message}`
  return failed('unreadable', `The Skill ${quote(name)} is not usable.${why}`, { path }, [
    { action: 'See all errors.', command: `hawser skills check ${quote(path)}` },
  ])
}

/** What a person should know before they trust a Skill, one fact a line. Visible text. */
export function skillSummary({ name, path, sha256, isChanged, fields }: Usable): string[] {
  const { description, when_to_use, context_sources, allowed_tools } = fields
  const facts = [
    ['file', path],
    ['sha256', sha256],
    ['description', description],
    ...(when_to_use === undefined ? [] : [['when to use', when_to_use] as const]),
    ['permits without asking', allowed_tools.length === 0 ? 'nothing' : allowed_tools.join(', ')],
    ...context_sources.map((source) => [`context source ${source.id}`, originOf(source)] as const),
  ] as const
  const lines = facts.map(([label, value]) => `  ${label}: ${visibleLine(value)}`)
  const changed = isChanged ? ['It changed since it was trusted.'] : []
  const first = `The Skill ${name} of this repository gives the model instructions:`
  return [...changed, first, ...lines]
}

type Source = Usable['fields']['context_sources'][number]

/** What a source reads or runs, with every argument apart, and the values that its parameters may have. */
function originOf({ from, auto, parameters = {} }: Source): string {
  const values = Object.entries(parameters).map(([name, { type, choices }]) => {
    return `, {${name}}: ${choices === undefined ? type : choices.map(quote).join(' or ')}`
  })
  const when = `${values.join('')}${auto === true ? ', with every activation' : ''}`
  switch (from.kind) {
    case 'command':
      return `runs ${from.argv.map(quote).join(' ')}${when}`
    case 'file':
      return `reads the file ${quote(from.path)}${when}`
    case 'resource_view':
      return `shows the Resource ${quote(from.handle)}${when}`
    case 'presenter':
      return `takes the fact ${quote(from.fact)} of the presenter${when}`
    case 'tool':
      return `calls the tool ${from.name} with ${JSON.stringify(from.arguments)}${when}`
  }
}
