import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { ContextSource } from '../../../src/model/events/context-source.ts'
import type { PermissionMode } from '../../../src/model/modes.ts'
import type { Session } from '../../../src/session/session.ts'
import { commandSource, type HandSkill } from '../../support/session/hand-skills.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { say } from '../../support/resources/sample-files.ts'
import { hydrations, skillPlace, type SkillPlace } from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'
import { treeHash } from '../../support/host/tree-hash.ts'

/** A Session with a Skill `facts` that declares these sources. */
interface Scene extends SkillPlace {
  readonly session: Session
  /** Hydrates these sources with a message and returns their Events. */
  readonly hydrate: (...ids: readonly string[]) => Promise<ReturnType<typeof hydrations>>
  readonly unchanged: () => Promise<boolean>
}

export async function scene(
  sources: readonly ContextSource[],
  mode: PermissionMode,
  { changes = {}, skill = {} }: { changes?: Changes; skill?: HandSkill } = {},
): Promise<Scene> {
  const at = await skillPlace('in process', { facts: { ...skill, sources } }, { changes })
  await writeFile(join(at.workspace, 'a.txt'), 'a\n')
  const session = value(await at.harness.create({ ...at.begin, permissionMode: mode }))
  const before = await treeHash(at.workspace, [join(at.workspace, '.hawser')])
  return {
    ...at,
    session,
    hydrate: async (...ids) => {
      const known = hydrations(session).length
      const skills = [{ name: 'facts', with: ids.map((id) => ({ id })) }]
      expect(await say(session, 'Thanks.', { skills })).toBe('completed')
      return hydrations(session).slice(known)
    },
    unchanged: async () =>
      before === (await treeHash(at.workspace, [join(at.workspace, '.hawser')])),
  }
}

/** A command that is in no table. */
export function shell(
  id: string,
  script: string,
  more: Partial<ContextSource> = {},
): ContextSource {
  return commandSource(id, ['sh', '-c', script], more)
}
