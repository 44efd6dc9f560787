import { basename, dirname, join } from 'node:path'
import { readSkillFile, SKILL_FILE } from '../host/skills/skill-file.ts'
import { realPathOf } from '../host/files/look.ts'
import { entryAt } from '../host/skills/skill-places.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import { LIMITS } from '../model/limits.ts'
import type { ContextSource } from '../model/events/context-source.ts'
import type { Claim } from '../policy/claim.ts'
import { decideHydration } from '../policy/hydration.ts'
import { isReadOnly } from '../policy/read-only-command.ts'
import { isSkillName } from './discover.ts'
import { parseSkill } from './front-matter.ts'
import { neverHydrated, planHydration } from './hydration-plan.ts'
import type { SkillFinding, SkillFrontMatter } from './skill.ts'

/** A Skill that was checked, wherever it is. */
export interface CheckedSkill extends SkillFrontMatter {
  readonly name: string
  /** Of its SKILL.md. */
  readonly path: string
  /** Context sources that every activation refuses to hydrate. */
  readonly deniedSources: readonly DeniedSource[]
}

export interface DeniedSource {
  readonly id: string
  readonly reason: string
}

/** Checks a SKILL.md, or that of a folder, at an absolute path. Runs nothing and trusts nothing. */
export function checkSkill(path: string): Result<CheckedSkill> {
  // Through links, because a person typed it; the name is that of the folder where they lead.
  const real = realPathOf(path)
  if (real === undefined) return failed('not_found', `${path} does not exist.`)
  const isFolder = entryAt(real) === 'folder'
  if (!isFolder && basename(path) !== SKILL_FILE) {
    const message = `${path} is neither a ${SKILL_FILE} nor a folder with one.`
    return failed('invalid_args', message)
  }
  const folder = isFolder ? real : realPathOf(dirname(path))
  return checkFolder(folder ?? dirname(path))
}

function checkFolder(folder: string): Result<CheckedSkill> {
  const name = basename(folder)
  const file = readSkillFile({ start: folder, below: [], mayLink: true }, LIMITS.skill_file_bytes)
  const path = join(folder, SKILL_FILE)
  if (!file.ok) {
    const { kind, message } = file.error
    return kind === 'not_found'
      ? failed('not_found', `The folder ${folder} has no ${SKILL_FILE}.`)
      : failed(kind, message, { path })
  }
  const { fields, findings } = parseSkill(file.value.bytes, name)
  const denied = deniedSources(fields?.context_sources ?? [])
  if (isSkillName(name)) return ok({ name, path, fields, findings, deniedSources: denied })
  const message =
    'The folder of a Skill has a name of letters, digits, ".", "_" and "-", at most 64.'
  const wrong: SkillFinding = { severity: 'error', line: 1, message }
  return ok({ name, path, fields: undefined, findings: [wrong, ...findings], deniedSources: [] })
}

/** Decided as by an activation, where everything is allowed that a person can allow. */
function deniedSources(sources: readonly ContextSource[]): DeniedSource[] {
  return sources.flatMap((source) => {
    const never = neverHydrated(source)
    if (never !== undefined) return [{ id: source.id, reason: asReason(never) }]
    const plan = planHydration(source)
    // One with parameters has no value for them here.
    if (!plan.ok) return []
    const invokedBy = source.auto === true ? 'auto' : 'person'
    const { kind } = plan.value
    const readOnly = isReadOnly(plan.value)
    const { answer, reason } = decideHydration(
      { kind, readOnly, isTrusted: true, invokedBy, claim: NO_RULE_APPLIES },
      { mode: 'auto', isConfined: true, rules: [] },
    )
    return answer === 'deny' ? [{ id: source.id, reason }] : []
  })
}

/** A sentence as the end of another. */
function asReason(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`
}

const NO_RULE_APPLIES: Claim = {
  tool: 'hydrate_context',
  effect: 'read',
  paths: [],
  network: false,
}
