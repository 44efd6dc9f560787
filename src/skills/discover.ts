import { quote, shorten } from '../encoding/quote.ts'
import {
  SKILL_FILE,
  skillFileFacts,
  type SkillFileFacts,
  type SkillPlace,
} from '../host/skills/skill-file.ts'
import { entryAt, foldersIn, leadsThrough, type FolderEntry } from '../host/skills/skill-places.ts'
import { liesIn } from '../host/files/confined-path.ts'
import { realPathOf } from '../host/files/look.ts'
import { LIMITS } from '../model/limits.ts'
import type { ShadowedSkill, SkillRoot, SkillWarning } from './skill.ts'
import type { RootFolder, SkillRoots } from './skill-roots.ts'

/** A folder with a SKILL.md that could be read. */
export interface FoundSkill {
  readonly name: string
  readonly root: SkillRoot
  /** Absolute, of its SKILL.md. */
  readonly path: string
  readonly place: SkillPlace
  /** The real path of its folder, if that must not be a link. */
  readonly real: string | undefined
  /** It needs the trust of the person. */
  readonly isForeign: boolean
  readonly facts: SkillFileFacts
}

export interface Discovery {
  /** By name. */
  readonly skills: readonly FoundSkill[]
  readonly shadowed: readonly ShadowedSkill[]
  readonly warnings: readonly SkillWarning[]
}

/** More in one root are not read. */
const MOST_FOLDERS = 1_000

export function isSkillName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)
}

/** The Skills in the roots, or only those named `only`. A Skill that cannot be used still hides later ones of its name. */
export function discover(
  { roots, foreign, warnings: earlier }: SkillRoots,
  only?: string,
): Discovery {
  const warnings = [...earlier]
  const shadowed: ShadowedSkill[] = []
  // The path alone of a Skill that cannot be used.
  const taken = new Map<string, FoundSkill | string>()
  for (const root of roots) {
    for (const entry of skillEntries(root, only, warnings)) {
      const { name } = entry
      const folder = `${root.path}/${name}`
      const path = `${folder}/${SKILL_FILE}`
      const first = taken.get(name)
      const by = typeof first === 'object' ? first.path : first
      if (entry.isLink && root.isForeign) {
        // Usual: one folder of Skills whose entries are links to the other.
        if (by !== undefined && realPathOf(path) === realPathOf(by)) continue
        const message = 'This Skill is not used: links in a repository are not followed.'
        warnings.push({ path, message })
        continue
      }
      const looked = look(root, entry, foreign)
      if (looked === undefined) warnings.push({ path, message: `The folder has no ${SKILL_FILE}.` })
      else if (by !== undefined) shadowed.push({ name, path, by })
      else if (typeof looked === 'object') taken.set(name, foundSkill(root, name, path, looked))
      else {
        taken.set(name, path)
        warnings.push({ path, message: `This Skill is not usable. ${looked}` })
      }
    }
  }
  const usable = [...taken.values()].filter((skill) => typeof skill === 'object')
  return { skills: usable.sort((a, b) => (a.name < b.name ? -1 : 1)), shadowed, warnings }
}

function foundSkill(
  { root }: RootFolder,
  name: string,
  path: string,
  looked: LocatedSkill,
): FoundSkill {
  const { place, real, isForeign, facts } = looked
  return { name, root, path, place, real, isForeign, facts }
}

/** The entries of a root with valid names. */
function skillEntries(
  { path }: RootFolder,
  only: string | undefined,
  warnings: SkillWarning[],
): readonly FolderEntry[] {
  if (only !== undefined) {
    const there = entryAt(`${path}/${only}`)
    const isEntry = there === 'folder' || there === 'link'
    return isEntry ? [{ name: only, isLink: there === 'link' }] : []
  }
  const entries = foldersIn(path)
  if ('code' in entries) {
    warnings.push({ path, message: `This folder cannot be read (${entries.code}).` })
    return []
  }
  // Folders of tools, such as `.git`.
  const visible = entries.filter(({ name }) => !name.startsWith('.'))
  for (const { name } of visible) {
    if (isSkillName(name)) continue
    const message = `The folder ${quote(shorten(name, 80))} is ignored: a Skill has a name of letters, digits, ".", "_" and "-", at most 64.`
    warnings.push({ path, message })
  }
  const valid = visible.filter(({ name }) => isSkillName(name))
  if (valid.length <= MOST_FOLDERS) return valid
  const message = `Only the first ${MOST_FOLDERS} Skills of this folder are used.`
  warnings.push({ path, message })
  return valid.slice(0, MOST_FOLDERS)
}

type LocatedSkill = Pick<FoundSkill, 'place' | 'real' | 'isForeign' | 'facts'>

/** What is known about a SKILL.md without opening it, or why it cannot be used. `undefined` if it is missing. */
function look(
  { path, real, start, below, isForeign, inner }: RootFolder,
  { name, isLink }: FolderEntry,
  foreign: readonly string[],
): LocatedSkill | string | undefined {
  const folder = `${path}/${name}`
  if (isForeign) {
    const place = { start, below: [...below, name], mayLink: false }
    return judgePlace(place, `${real}/${name}`, true)
  }
  const own = judgePlace({ start: folder, below: [], mayLink: true }, undefined, false)
  const leadsAway = isLink || (typeof own === 'object' && own.facts.isLink)
  // A tool could write where a link of the person leads, or where the workspace is a Skill itself.
  const isWritable = leadsAway
    ? leadsThrough(`${folder}/${SKILL_FILE}`, foreign)
    : inner.some((place) => liesIn(`${real}/${name}`, place))
  if (!isWritable) return own
  return judgePlace({ start: folder, below: [], mayLink: false }, undefined, true)
}

function judgePlace(
  place: SkillPlace,
  real: string | undefined,
  isForeign: boolean,
): LocatedSkill | string | undefined {
  const facts = skillFileFacts(place, LIMITS.skill_file_bytes)
  if (facts.ok) return { place, real, isForeign, facts: facts.value }
  return facts.error.kind === 'not_found' ? undefined : facts.error.message
}
