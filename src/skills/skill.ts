import type { FileContent } from '../host/files/confined-files.ts'
import type { ContextSource } from '../model/events/context-source.ts'
import type { Result } from '../model/errors.ts'

/** Where Skills are looked for, in order: the first Skill of a name wins. */
export const SKILL_ROOTS = [
  '~/.agents/skills',
  '$HAWSER_HOME/skills',
  '~/.claude/skills',
  '<repo>/.agents/skills',
  '<repo>/.claude/skills',
] as const
export type SkillRoot = (typeof SKILL_ROOTS)[number]

/**
 * `user`: installed by the person. `trusted`: from the repository, with content that the person trusted in this
 * workspace. `untrusted`: its text is data, never instructions; it can be viewed, but not activated.
 */
export type SkillTrust = 'user' | 'trusted' | 'untrusted'

/** What the front matter of a usable Skill says. */
export interface SkillFields {
  readonly description: string
  readonly when_to_use?: string | undefined
  /** False if only a person may activate it. */
  readonly forModel: boolean
  readonly context_sources: readonly ContextSource[]
  readonly allowed_tools: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
}

/** Something about a SKILL.md that its author should fix. An error makes the Skill unusable. */
export interface SkillFinding {
  readonly severity: 'error' | 'warning'
  /** From 1. */
  readonly line: number
  readonly message: string
}

/** What a SKILL.md says about itself. */
export interface SkillFrontMatter {
  /** `undefined` if there is an error among the findings. */
  readonly fields: SkillFields | undefined
  /** By line. */
  readonly findings: readonly SkillFinding[]
}

/** A Skill as lists show it. Its name is that of its folder. */
export interface ListedSkill extends SkillFields {
  readonly name: string
  readonly root: SkillRoot
  /** Absolute, of its SKILL.md. */
  readonly path: string
  readonly trust: SkillTrust
  /** Untrusted, because its content is no longer what the person trusted. */
  readonly changed?: true
}

export interface SkillWarning {
  /** Absolute. */
  readonly path: string
  /** From 1. */
  readonly line?: number | undefined
  readonly message: string
}

/** A Skill that another of the same name hides. */
export interface ShadowedSkill {
  readonly name: string
  readonly path: string
  /** The path of the Skill that is used. */
  readonly by: string
}

export interface SkillList {
  /** Sorted by name. */
  readonly skills: readonly ListedSkill[]
  readonly shadowed: readonly ShadowedSkill[]
  readonly warnings: readonly SkillWarning[]
}

/** A Skill with its text, both from one read. */
export interface LoadedSkill extends ListedSkill {
  readonly content_sha256: string
  /** The text without its front matter. */
  readonly body: Buffer
}

/** The Skills on disk now. Reading one never runs anything. */
export interface SkillCatalog {
  list(): Promise<SkillList>
  /** `not_found` if none has that name now, with the reason; `unreadable` if its front matter is invalid. */
  load(name: string): Promise<Result<LoadedSkill>>
  /** At most `limit` bytes of a file in the folder of a Skill. Errors as in `ConfinedFiles`. */
  readFile(name: string, path: string, limit: number): Promise<Result<FileContent>>
}
