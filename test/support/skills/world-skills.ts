import type { ConfinedFiles } from '../../../src/host/files/confined-files.ts'
import { BlobKey, EventId } from '../../../src/model/ids.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import type { ToolSkills } from '../../../src/tools/tool.ts'
import { generatedHydration, generatedSkill } from '../history/generated-skill.ts'

const BODY = BlobKey.parse(`${'a'.repeat(64)}.md`)
const ACTIVATION = EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12')

/** For tools: a Skill `review` with the files of the workspace, a long untrusted one, and no other. */
export function worldSkills(files: ConfinedFiles): ToolSkills {
  return {
    activate: async (name) => {
      if (name === 'review') return ok({ state: 'activated', record: [generatedSkill(BODY, true)] })
      if (name === 'long')
        return ok({ state: 'untrusted', text: 'a line of text\n'.repeat(20_000) })
      return failed('not_found', `There is no Skill ${name}.`)
    },
    readFile: async (_name, path, limit) => {
      const file = await files.read(path, limit)
      return file.ok ? ok({ ...file.value, isTrusted: true }) : file
    },
    hydrate: async ({ skill, id }) => {
      if (skill !== 'review') return failed('invalid_args', `${skill} is not active.`)
      if (id !== 'diff') return failed('invalid_args', `${id} is not declared.`)
      const record = [generatedHydration(ACTIVATION, 'output', { failed: false })]
      return ok({ status: 'ok', bytes: 6, record })
    },
  }
}
