import { failed } from '../../../src/model/errors.ts'
import type { ToolSkills } from '../../../src/tools/tool.ts'

/** For tools that use no Skills. */
export const NO_TOOL_SKILLS: ToolSkills = {
  activate: async () => failed('internal', 'There are no Skills here.'),
  readFile: async () => failed('internal', 'There are no Skills here.'),
  hydrate: async () => failed('internal', 'There are no Skills here.'),
}
