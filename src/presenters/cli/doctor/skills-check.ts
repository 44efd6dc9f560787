import { countOf } from '../../../encoding/amounts.ts'
import type { InstalledSkills } from '../../../session/workspace/installed-skills.ts'
import { visibleLine } from '../text/visible-text.ts'
import { good, warning, type Check } from './check.ts'

/** The Skills, and what is wrong with them. */
export type SkillWarnings = Awaited<ReturnType<InstalledSkills['list']>>

export function skillsCheck({ skills, warnings }: SkillWarnings): Check {
  const untrusted = skills.filter(({ trust }) => trust === 'untrusted').length
  const note = untrusted === 0 ? '' : `, ${untrusted} untrusted`
  const text = `${countOf(skills.length, 'Skill')}${note}`
  const [first] = warnings
  if (first === undefined) return good('skills', text)
  const plain = `${text}, ${countOf(warnings.length, 'warning')}`
  const place = `${first.path}${first.line === undefined ? '' : `:${first.line}`}`
  return warning(
    'skills',
    { text: `${plain}: ${visibleLine(`${place}: ${first.message}`)}`, plain },
    { action: 'List the warnings.', command: 'hawser skills' },
  )
}
