import { resolve } from 'node:path'
import { sha256 } from '../encoding/hash.ts'
import { quote, shorten } from '../encoding/quote.ts'
import { openConfined, type FileContent } from '../host/files/confined-files.ts'
import { closing } from '../host/files/files.ts'
import { identifyFolder } from '../host/files/folder-identity.ts'
import { folderOf, readSkillFile } from '../host/skills/skill-file.ts'
import { readTrustedSkills } from '../host/trust.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import { LIMITS } from '../model/limits.ts'
import { discover, isSkillName, type FoundSkill } from './discover.ts'
import { shownSkill, SkillCache, type CachedSkill, type CacheParts } from './skill-cache.ts'
import { skillRoots, type SkillSearch } from './skill-roots.ts'
import type {
  ListedSkill,
  LoadedSkill,
  SkillCatalog,
  SkillFields,
  SkillFinding,
  SkillList,
  SkillTrust,
  SkillWarning,
} from './skill.ts'

/** A catalog without Skills. */
export const NO_SKILLS: SkillCatalog = {
  list: async () => ({ skills: [], shadowed: [], warnings: [] }),
  load: async (name) => noSkill(name),
  readFile: async (name) => noSkill(name),
}

/** What the Skills of a workspace depend on. */
export interface SkillParts extends SkillSearch, CacheParts {}

/** The Skills on the disk of this machine. */
export function systemSkills(parts: SkillParts): SkillCatalog {
  const cache = new SkillCache(parts)
  return {
    list: async () => parts.redactor.value(await list(parts, cache)),
    load: (name) => load(parts, name),
    readFile: (name, path, limit) => readFile(parts, name, path, limit),
  }
}

/** A Skill as it is on disk now, with what its front matter says, whether it is trusted or not. */
export interface ExaminedSkill {
  readonly skill: FoundSkill
  readonly bytes: Buffer
  readonly sha256: string
  readonly trust: SkillTrust
  /** Other content of it is trusted. */
  readonly isChanged: boolean
}

/** Reads the Skill of a name and decides about its trust from these bytes. `not_found` if there is none. */
export async function examineSkill(
  parts: SkillParts,
  name: string,
): Promise<Result<ExaminedSkill>> {
  const found = findSkill(parts, name)
  if (!found.ok) return found
  const file = readSkillFile(found.value.place, LIMITS.skill_file_bytes)
  if (!file.ok) return unusableSkill(name, file.error.message, file.error.kind)
  const { bytes } = file.value
  const hash = sha256(bytes)
  const trusted = found.value.isForeign ? await trustedHashes(parts) : ok(NONE)
  if (!trusted.ok) return trusted
  const trust = trustOf(found.value, hash, trusted.value)
  const isChanged = trust === 'untrusted' && trusted.value.has(name)
  return ok({ skill: found.value, bytes, sha256: hash, trust, isChanged })
}

async function list(parts: SkillParts, cache: SkillCache): Promise<SkillList> {
  const { skills: found, shadowed, warnings: earlier } = discover(skillRoots(parts))
  const warnings = [...earlier]
  const trusted = found.some(({ isForeign }) => isForeign) ? await trustedHashes(parts) : ok(NONE)
  if (!trusted.ok) warnings.push({ path: parts.home.label, message: trusted.error.message })
  const hashes = trusted.ok ? trusted.value : NONE
  if (found.length > 0) await cache.load()
  const skills: ListedSkill[] = []
  for (const skill of found) {
    const hash = hashes.get(skill.name)
    const known = cache.get(skill.path, skill.facts)
    const isKnown = known !== undefined && !skill.isForeign
    const read = isKnown ? ok(known) : await parsedNow(parts, skill, known, cache)
    if (!read.ok) {
      warnings.push({
        path: skill.path,
        message: `This Skill is not usable. ${read.error.message}`,
      })
    } else if (skill.isForeign && read.value.sha256 !== hash) {
      // Only whether its front matter is valid matters: what it declares has no effect.
      const errors = read.value.findings.filter(({ severity }) => severity === 'error')
      warnings.push(...errors.map((finding) => warningOf(skill.path, finding)))
      skills.push(untrustedSkill(skill, hash !== undefined))
    } else {
      warnings.push(...read.value.findings.map((finding) => warningOf(skill.path, finding)))
      const { fields } = read.value
      if (fields !== undefined) {
        skills.push(listedSkill(skill, skill.isForeign ? 'trusted' : 'user', fields))
      }
    }
  }
  await cache.save()
  return { skills, shadowed, warnings }
}

/** The hash of what is trusted, by name. */
type TrustedHashes = ReadonlyMap<string, string>

const NONE: TrustedHashes = new Map()

async function trustedHashes(parts: SkillParts): Promise<Result<TrustedHashes>> {
  const workspace = await identifyFolder(resolve(parts.workspace))
  if (!workspace.ok) return ok(NONE)
  const trusted = await readTrustedSkills(parts.home, workspace.value)
  if (!trusted.ok) return trusted
  return ok(new Map(trusted.value.map(({ name, sha256: hash }) => [name, hash])))
}

function trustOf(
  { name, isForeign }: FoundSkill,
  hash: string,
  trusted: TrustedHashes,
): SkillTrust {
  if (!isForeign) return 'user'
  return trusted.get(name) === hash ? 'trusted' : 'untrusted'
}

/** The hash is always that of the bytes now, so that it can decide about trust. */
async function parsedNow(
  { redactor }: SkillParts,
  skill: FoundSkill,
  known: CachedSkill | undefined,
  cache: SkillCache,
): Promise<Result<CachedSkill>> {
  const file = readSkillFile(skill.place, LIMITS.skill_file_bytes)
  if (!file.ok) return file
  const { bytes, facts } = file.value
  const hash = sha256(bytes)
  if (known?.key === facts.key && known.sha256 === hash) return ok(known)
  const { parseSkill } = await frontMatter()
  const { fields, findings } = parseSkill(bytes, skill.name)
  const entry = shownSkill(redactor, { key: facts.key, sha256: hash, fields, findings })
  cache.set(skill.path, facts, entry)
  return ok(entry)
}

/** The parser is loaded when a file changed: it takes longer than everything else. */
function frontMatter() {
  return import('./front-matter.ts')
}

async function load(parts: SkillParts, name: string): Promise<Result<LoadedSkill>> {
  const examined = await examineSkill(parts, name)
  if (!examined.ok) return examined
  const { skill: found, bytes, sha256: content_sha256, trust, isChanged } = examined.value
  const { parseSkill, skillBody } = await frontMatter()
  // Not parsed: what it declares has no effect.
  if (trust === 'untrusted') {
    return ok({ ...untrustedSkill(found, isChanged), content_sha256, body: skillBody(bytes) })
  }
  const { fields, findings, body } = parseSkill(bytes, name)
  if (fields !== undefined)
    return ok({ ...listedSkill(found, trust, fields), content_sha256, body })
  const first = findings.find(({ severity }) => severity === 'error')
  return unusableSkill(
    name,
    first === undefined ? '' : `Line ${first.line}: ${first.message}`,
    'unreadable',
  )
}

async function readFile(
  parts: SkillParts,
  name: string,
  path: string,
  limit: number,
): Promise<Result<FileContent>> {
  const found = findSkill(parts, name)
  if (!found.ok) return found
  const { place, real } = found.value
  const folder = await openConfined(folderOf(place), { refuse: [] })
  if (!folder.ok) return folder
  return closing(folder.value, async (files) => {
    if (real !== undefined && files.root !== real) {
      return unusableSkill(name, 'Its folder is a link.', 'not_regular_file')
    }
    const content = await files.read(path, limit)
    if (content.ok || content.error.kind !== 'outside_workspace') return content
    const message = `${quote(shorten(path, 200))} is outside the folder of the Skill ${quote(name)}.`
    return failed('outside_workspace', message)
  })
}

function findSkill(parts: SkillSearch, name: string): Result<FoundSkill> {
  if (!isSkillName(name)) return noSkill(name)
  const { skills: found, warnings } = discover(skillRoots(parts), name)
  const [skill] = found
  if (skill !== undefined) return ok(skill)
  const why = warnings.find(({ path }) => path.endsWith(`/${name}/SKILL.md`))
  return why === undefined ? noSkill(name) : unusableSkill(name, why.message, 'not_found')
}

/** By its folder name alone: its text is not the person's. */
function untrustedSkill(skill: FoundSkill, isChanged: boolean): ListedSkill {
  const nothing = {
    description: '',
    forModel: true,
    context_sources: [],
    allowed_tools: [],
    metadata: {},
  }
  return { ...listedSkill(skill, 'untrusted', nothing), ...(isChanged ? { changed: true } : {}) }
}

function listedSkill(
  { name, root, path }: FoundSkill,
  trust: SkillTrust,
  fields: SkillFields,
): ListedSkill {
  return { name, root, path, trust, ...fields }
}

function warningOf(path: string, { severity, line, message }: SkillFinding): SkillWarning {
  const text = severity === 'error' ? `This Skill is not usable. ${message}` : message
  return { path, line, message: text }
}

function noSkill(name: string): Failed {
  return failed('not_found', `No Skill is named ${quote(shorten(name, 80))}.`, {}, [
    { action: 'List the Skills.', command: 'hawser skills' },
  ])
}

function unusableSkill(name: string, why: string, kind: Failed['error']['kind']): Failed {
  return failed(kind, `The Skill ${quote(name)} is not usable. ${why}`.trimEnd())
}
