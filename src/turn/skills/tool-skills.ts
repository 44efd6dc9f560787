import { failed } from '../../model/errors.ts'
import type { ToolSkills } from '../../tools/tool.ts'
import type { TurnParts } from '../parts/turn-parts.ts'

/** The Skills for one call. */
export function toolSkills({ tools }: TurnParts): ToolSkills {
  return {
    activate: async (name) => failed('not_found', `No Skill is named ${name}.`),
    readFile: (name, path, limit) => tools.skills.readFile(name, path, limit),
    hydrate: async () => failed('hydration_failed', 'Not supported.'),
  }
}
