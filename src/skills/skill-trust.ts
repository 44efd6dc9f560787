import { resolve } from 'node:path'
import { timestamp } from '../host/clock.ts'
import { identifyFolder } from '../host/files/folder-identity.ts'
import { readTrustedSkills, setTrustedSkill } from '../host/trust.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { FolderIdentity } from '../model/folder-identity.ts'
import { examineSkill, type SkillParts } from './catalog.ts'
import { parseSkill } from './front-matter.ts'
import type { SkillFrontMatter, SkillTrust } from './skill.ts'

/** A Skill as a person sees it before they trust it. */
export interface SkillForTrust extends SkillFrontMatter {
  readonly name: string
  /** Absolute, of its SKILL.md. */
  readonly path: string
  readonly sha256: string
  readonly trust: SkillTrust
  /** Other content of it is trusted. */
  readonly isChanged: boolean
}

/** What a person trusts in one workspace. */
export interface SkillTrustStore {
  /** The Skill with this name as it is now. `not_found` if there is none. */
  examine(name: string): Promise<Result<SkillForTrust>>
  /** Trusts exactly this content of a Skill, in this workspace only. Durable once it resolves. */
  trust(name: string, sha256: string): Promise<Result<void>>
  /** Ends the trust in a Skill, also in one that no longer exists. Returns whether there was any. */
  untrust(name: string): Promise<Result<boolean>>
}

export function skillTrust(parts: SkillParts): SkillTrustStore {
  const { home, ids, clock } = parts
  const inWorkspace = async <T>(
    work: (folder: FolderIdentity) => Promise<Result<T>>,
  ): Promise<Result<T>> => {
    const folder = await identifyFolder(resolve(parts.workspace))
    return folder.ok ? work(folder.value) : failed('not_found', 'The workspace does not exist.')
  }
  return {
    examine: async (name) => {
      const examined = await examineSkill(parts, name)
      if (!examined.ok) return examined
      const { skill: found, bytes, sha256, trust, isChanged } = examined.value
      const { fields, findings } = parseSkill(bytes, name)
      return ok({ name, path: found.path, sha256, trust, isChanged, fields, findings })
    },
    trust: (name, sha256) =>
      inWorkspace((real) =>
        setTrustedSkill(home, real, name, { sha256, at: timestamp(clock) }, ids),
      ),
    untrust: (name) =>
      inWorkspace(async (real) => {
        const trusted = await readTrustedSkills(home, real)
        if (!trusted.ok) return trusted
        if (trusted.value.every((skill) => skill.name !== name)) return ok(false)
        const removed = await setTrustedSkill(home, real, name, undefined, ids)
        return removed.ok ? ok(true) : removed
      }),
  }
}
