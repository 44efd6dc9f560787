import * as z from 'zod'
import { hideKey } from '../encoding/hidden-key.ts'
import type { Redactor } from '../encoding/redaction.ts'
import { readCacheFile, writeCacheFile } from '../host/cache-file.ts'
import type { Folder } from '../host/files/files.ts'
import type { Ids } from '../host/ids.ts'
import type { SkillFileFacts } from '../host/skills/skill-file.ts'
import type { SkillFrontMatter } from './skill.ts'

/** What the front matter of a SKILL.md says, without its body. */
export interface CachedSkill extends SkillFrontMatter {
  /** Of the file that was parsed. */
  readonly key: string
  readonly sha256: string
}

export interface CacheParts {
  /** `$HAWSER_HOME`. */
  readonly home: Folder
  readonly ids: Ids
  readonly clock: { now(): number }
  /** Another version may parse differently. */
  readonly version: string
  /** Of the keys of this process: what Skills say about themselves is stored and shown without them. */
  readonly redactor: Redactor
}

const NAME = 'skills.json'
const MOST_ENTRIES = 4_000
/** Time stamps of file systems are at most this coarse, so a younger file could change without another key. */
const COARSEST_MS = 100

interface CacheFile {
  readonly version: string
  readonly entries: Readonly<Record<string, CachedSkill>>
}

/** Checked by its hash when it is read: checking hundreds of entries would take as long as parsing them. */
const CacheFile = z.custom<CacheFile>(
  (value) =>
    typeof value === 'object' && value !== null && 'version' in value && 'entries' in value,
)

/**
 * Parsed front matter by path. The parser takes longer to load than everything else about Skills. It saves time only:
 * nothing is trusted, and nothing activated, because of what it says.
 */
export class SkillCache {
  readonly #parts: CacheParts
  #entries: Map<string, CachedSkill> | undefined
  #isChanged = false

  constructor(parts: CacheParts) {
    this.#parts = parts
  }

  /** Reads the file, once. */
  async load(): Promise<void> {
    if (this.#entries !== undefined) return
    const file = CacheFile.safeParse(await readCacheFile(this.#parts.home, NAME)).data
    const isOurs = file?.version === this.#parts.version
    // It was written when a key was not known.
    const holdsKey = this.#parts.redactor.value(file) !== file
    this.#isChanged ||= holdsKey
    this.#entries ??= new Map(isOurs && !holdsKey ? Object.entries(file.entries) : [])
  }

  /** The entry of a file that has not changed since. */
  get(path: string, { key }: SkillFileFacts): CachedSkill | undefined {
    const entry = this.#entries?.get(path)
    return entry?.key === key ? entry : undefined
  }

  set(path: string, { changedMs }: SkillFileFacts, entry: CachedSkill): void {
    if (changedMs + COARSEST_MS > this.#parts.clock.now()) return
    const entries = (this.#entries ??= new Map())
    // The newest entries are last, and the first ones are dropped first.
    entries.delete(path)
    entries.set(path, entry)
    this.#isChanged = true
  }

  /** Writes what changed. */
  async save(): Promise<void> {
    if (!this.#isChanged) return
    this.#isChanged = false
    const { home, ids, version } = this.#parts
    const kept = [...(this.#entries ?? [])].slice(-MOST_ENTRIES)
    await writeCacheFile(home, NAME, { version, entries: Object.fromEntries(kept) }, ids)
  }
}

/** What a SKILL.md says about itself, without keys. Findings repeat parts of it, cut anywhere. Pure. */
export function shownSkill<T extends SkillFrontMatter>(redactor: Redactor, skill: T): T {
  const findings = redactor.keys.reduce((shown, key) => hideKey(shown, key), skill.findings)
  return { ...skill, fields: redactor.value(skill.fields), findings }
}
