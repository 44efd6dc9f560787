import { sha256 } from '../../../src/encoding/hash.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import type { ListedSkill, SkillCatalog } from '../../../src/skills/skill.ts'

/** A Skill of the person, unless `facts` say otherwise. */
export function listedSkill(name: string, facts: Partial<ListedSkill> = {}): ListedSkill {
  return {
    name,
    root: '$HAWSER_HOME/skills',
    path: `/home/me/.hawser/skills/${name}/SKILL.md`,
    trust: 'user',
    description: `Does ${name}.`,
    forModel: true,
    context_sources: [],
    allowed_tools: [],
    metadata: {},
    ...facts,
  }
}

/** A catalog whose Skills a test changes, as a person changes files. Their text is their description. */
export class SkillShelf implements SkillCatalog {
  skills: readonly ListedSkill[]
  /** How often the Skills were listed. */
  lists = 0

  constructor(...skills: readonly ListedSkill[]) {
    this.skills = skills
  }

  async list() {
    this.lists += 1
    return { skills: this.skills, shadowed: [], warnings: [] }
  }

  async load(name: string) {
    const found = this.skills.find((skill) => skill.name === name)
    if (found === undefined) return failed('not_found', `No Skill is named ${name}.`)
    const body = Buffer.from(`${found.description}\n`)
    return ok({ ...found, content_sha256: sha256(body), body })
  }

  async readFile(name: string) {
    return failed('not_found', `The Skill ${name} has no files.`)
  }
}
