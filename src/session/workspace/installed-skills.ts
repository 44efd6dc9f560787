import type { Result } from '../../model/errors.ts'
import type { CheckedSkill } from '../../skills/check-skill.ts'
import type { SkillCatalog } from '../../skills/skill.ts'
import type { SkillTrustStore } from '../../skills/skill-trust.ts'

/** The Skills of a workspace, for a person who manages them. Works where no Session was ever created. */
export interface InstalledSkills extends Pick<SkillCatalog, 'list'>, SkillTrustStore {
  /** Checks the SKILL.md at an absolute path, or that of a folder, wherever it is. */
  check(path: string): Promise<Result<CheckedSkill>>
}
