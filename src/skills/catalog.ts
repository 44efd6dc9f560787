import { failed } from '../model/errors.ts'
import type { SkillCatalog } from './skill.ts'

/** A catalog without Skills. */
export const NO_SKILLS: SkillCatalog = {
  list: async () => ({ skills: [], shadowed: [], warnings: [] }),
  load: async (name) => failed('not_found', `No Skill is named ${name}.`),
  readFile: async (name) => failed('not_found', `No Skill is named ${name}.`),
}
