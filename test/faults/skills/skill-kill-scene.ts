import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import { commandSource, handSource, withSkills } from '../../support/session/hand-skills.ts'
import type { Changes } from '../../support/session/harness-parts.ts'

/** A Skill with a source of each kind that needs no attachment, one of them long and one automatic. */
export function skillChanges(): Changes {
  const sources = [
    handSource('long', { kind: 'file', path: 'long.txt' }, { max_bytes: 100 }),
    commandSource('list', ['ls']),
    handSource('guide', { kind: 'file', path: 'guide.md' }, { auto: true }),
  ]
  const guided = { body: 'Follow the guide.\n', sources: sources.slice(2) }
  const facts = { body: 'Use the facts.\n', sources }
  return withSkills(new Map(Object.entries({ facts, guided })))
}

export const FIRST: readonly [string, AdmitOptions] = [
  'Hydrate list of facts. Then use the skill guided. Then hydrate long of facts.',
  { skills: [{ name: 'facts', with: [{ id: 'long' }, { id: 'list' }] }] },
]

export async function prepareWorkspace(root: string): Promise<void> {
  await mkdir(join(root, 'workspace'), { recursive: true })
  await writeFile(join(root, 'workspace/long.txt'), 'line\n'.repeat(100))
  await writeFile(join(root, 'workspace/guide.md'), 'Names are short.\n')
}
