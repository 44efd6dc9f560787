import { sha256 } from '../../../src/encoding/hash.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import type { ContextSource, SourceOrigin } from '../../../src/model/events/context-source.ts'
import type { LoadedSkill, SkillCatalog } from '../../../src/skills/skill.ts'
import { SKILL_TOOLS, TOOLSET, toolSchemas } from '../../../src/tools/toolset.ts'
import type { Changes } from './harness-parts.ts'

/** A Skill as a test writes it; what is left out has a default. */
export interface HandSkill extends Partial<Omit<LoadedSkill, 'body' | 'context_sources'>> {
  readonly body?: string
  readonly sources?: readonly ContextSource[]
  /** Files in its folder. */
  readonly files?: Readonly<Record<string, string | Buffer>>
}

/** A context source with the defaults of a declaration. */
export function handSource(
  id: string,
  from: SourceOrigin,
  more: Partial<ContextSource> = {},
): ContextSource {
  return { id, from, max_bytes: 32 * 1024, timeout_ms: 10_000, ...more }
}

export function commandSource(
  id: string,
  argv: readonly string[],
  more: Partial<ContextSource> = {},
): ContextSource {
  return handSource(id, { kind: 'command', argv: [...argv] }, more)
}

/** Skills in memory. `skills` may be changed at any time, like files on a disk. */
function handSkills(skills: Map<string, HandSkill>): SkillCatalog {
  const load: SkillCatalog['load'] = async (name) => {
    const skill = skills.get(name)
    if (skill === undefined) return failed('not_found', `There is no Skill ${name} any more.`)
    return ok(loadedSkill(name, skill))
  }
  return {
    list: async () => ({
      skills: [...skills].map(([name, skill]) => loadedSkill(name, skill)),
      shadowed: [],
      warnings: [],
    }),
    load,
    readFile: async (name, path, limit) => {
      const content = skills.get(name)?.files?.[path]
      if (content === undefined) return failed('not_found', `${path} does not exist.`)
      const bytes = Buffer.from(content)
      const truncated = bytes.length > limit
      return ok({ path, bytes: bytes.subarray(0, limit), size: bytes.length, truncated })
    },
  }
}

function loadedSkill(name: string, skill: HandSkill): LoadedSkill {
  const { body = `Do it as ${name} says.\n`, sources = [], files: _, ...rest } = skill
  return {
    name,
    root: '$HAWSER_HOME/skills',
    path: `/skills/${name}/SKILL.md`,
    trust: 'user',
    description: `about ${name}`,
    forModel: true,
    allowed_tools: [],
    metadata: {},
    content_sha256: sha256(JSON.stringify([name, body, sources])),
    ...rest,
    body: Buffer.from(body),
    context_sources: sources,
  }
}

/** The parts of a Session with these Skills, whose surface has the tools for them. */
export function withSkills(skills: Map<string, HandSkill>): Changes {
  const schemas = toolSchemas([...TOOLSET, ...SKILL_TOOLS])
  return { tools: { skills: handSkills(skills), schemas, skillSchemas: [] } }
}
