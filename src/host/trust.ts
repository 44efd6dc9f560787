import * as z from 'zod'
import { failed, ok, type Result } from '../model/errors.ts'
import { isSameFolder, type FolderIdentity } from '../model/folder-identity.ts'
import { RecordedFolder } from '../model/recorded-folder.ts'
import { closedObject, openObject } from '../model/shape.ts'
import { systemClock } from './clock.ts'
import { asResult, replaceFile, type Folder } from './files/files.ts'
import { jsonOf, wholeFile } from './files/json-file.ts'
import { underShortLock } from './short-lock.ts'
import { systemIds, type Ids } from './ids.ts'

const TRUST = 'trust.json'
const MOST_BYTES = 1024 * 1024

const TrustedSkill = closedObject(() => ({
  name: z.string(),
  sha256: z.string(),
  at: z.string(),
}))
const TrustedInstructions = closedObject(() => ({
  path: z.string(),
  sha256: z.string(),
  at: z.string(),
}))
const TrustRecord = openObject(() => ({
  contents: z.array(openObject(() => ({ sha256: z.string() }))),
  /** By the real path of a workspace. */
  skills: z.record(z.string(), z.array(TrustedSkill)).optional(),
  /** By the real path of a workspace. Apart from `contents`, so that no text can pass for settings. */
  instructions: z.record(z.string(), z.array(TrustedInstructions)).optional(),
  /** Which folders these workspaces are. */
  folders: z.record(z.string(), RecordedFolder).optional(),
}))
type TrustRecord = z.infer<typeof TrustRecord>

/** The content of a Skill that a person trusts in one workspace. */
export type TrustedSkill = Readonly<z.infer<typeof TrustedSkill>>

/** The content of a file with project instructions that a person trusts in one workspace. */
export type TrustedInstructions = Readonly<z.infer<typeof TrustedInstructions>>

/** The hashes of the content that a person trusts. */
export async function readTrusted(home: Folder): Promise<Result<ReadonlySet<string>>> {
  return asResult(`read ${home.label}/${TRUST}`, async () => {
    const record = await trustRecord(home)
    if (!record.ok) return record
    return ok(new Set(record.value.contents.map(({ sha256 }) => sha256)))
  })
}

export async function trust(
  home: Folder,
  content: { readonly sha256: string; readonly what: string; readonly at: string },
  ids: Ids,
): Promise<Result<void>> {
  return changeTrust(home, ids, (record) => {
    const others = record.contents.filter(({ sha256 }) => sha256 !== content.sha256)
    return { ...record, contents: [...others, content] }
  })
}

/** The Skills of the repository that a person trusts in a workspace. None in another folder that is at its path now. */
export async function readTrustedSkills(
  home: Folder,
  workspace: FolderIdentity,
): Promise<Result<readonly TrustedSkill[]>> {
  const record = await recordFor(home, workspace)
  return record.ok ? ok(skillsIn(record.value, workspace.path)) : record
}

/** Replaces what a workspace trusts of one Skill: with this content, or with nothing. Durable once it resolves. */
export async function setTrustedSkill(
  home: Folder,
  workspace: FolderIdentity,
  name: string,
  content: Omit<TrustedSkill, 'name'> | undefined,
  ids: Ids,
): Promise<Result<void>> {
  return changeTrust(home, ids, (before) => {
    const record = inFolder(before, workspace)
    const others = skillsIn(record, workspace.path).filter((skill) => skill.name !== name)
    const next = content === undefined ? others : [...others, { name, ...content }]
    const { [workspace.path]: _replaced, ...elsewhere } = record.skills ?? {}
    return {
      ...record,
      skills: next.length === 0 ? elsewhere : { ...elsewhere, [workspace.path]: next },
    }
  })
}

/** The project instructions that a person trusts in a workspace. None in another folder that is at its path now. */
export async function readTrustedInstructions(
  home: Folder,
  workspace: FolderIdentity,
): Promise<Result<readonly TrustedInstructions[]>> {
  const record = await recordFor(home, workspace)
  return record.ok ? ok(instructionsIn(record.value, workspace.path)) : record
}

/** Trusts exactly these contents in a workspace, each instead of what was trusted at its path. Durable once it resolves. */
export async function trustInstructions(
  home: Folder,
  workspace: FolderIdentity,
  contents: readonly TrustedInstructions[],
  ids: Ids,
): Promise<Result<void>> {
  return changeTrust(home, ids, (before) => {
    const record = inFolder(before, workspace)
    const paths = new Set(contents.map(({ path }) => path))
    const others = instructionsIn(record, workspace.path).filter(({ path }) => !paths.has(path))
    const instructions = { ...record.instructions, [workspace.path]: [...others, ...contents] }
    return { ...record, instructions }
  })
}

/** The record as it applies in a folder. An entry of an older version gets the folder that is there now. */
async function recordFor(home: Folder, workspace: FolderIdentity): Promise<Result<TrustRecord>> {
  const record = await asResult(`read ${home.label}/${TRUST}`, () => trustRecord(home))
  if (!record.ok) return record
  const { path } = workspace
  const isAbsent =
    [...skillsIn(record.value, path), ...instructionsIn(record.value, path)].length === 0
  if (!isAbsent && record.value.folders?.[path] === undefined) {
    const ids = systemIds(systemClock)
    const kept = await changeTrust(home, ids, (before) => inFolder(before, workspace))
    if (!kept.ok) return kept
  }
  return ok(inFolder(record.value, workspace))
}

/** The record with this folder at its path: what was trusted in another one there is gone. */
function inFolder(record: TrustRecord, workspace: FolderIdentity): TrustRecord {
  const { path } = workspace
  const folders = { ...record.folders, [path]: workspace }
  const recorded = record.folders?.[path]
  if (recorded === undefined || isSameFolder(recorded, workspace)) return { ...record, folders }
  const { [path]: _skills, ...skills } = record.skills ?? {}
  const { [path]: _instructions, ...instructions } = record.instructions ?? {}
  return { ...record, folders, skills, instructions }
}

function instructionsIn(
  { instructions = {} }: TrustRecord,
  workspace: string,
): readonly TrustedInstructions[] {
  return Object.hasOwn(instructions, workspace) ? (instructions[workspace] ?? []) : []
}

function skillsIn({ skills = {} }: TrustRecord, workspace: string): readonly TrustedSkill[] {
  return Object.hasOwn(skills, workspace) ? (skills[workspace] ?? []) : []
}

async function changeTrust(
  home: Folder,
  ids: Ids,
  next: (record: TrustRecord) => TrustRecord,
): Promise<Result<void>> {
  return asResult(`write ${home.label}/${TRUST}`, () =>
    underShortLock({ folder: home, clock: systemClock }, async () => {
      const record = await trustRecord(home)
      if (!record.ok) return record
      const bytes = Buffer.from(`${JSON.stringify(next(record.value), null, 2)}\n`)
      await replaceFile(home, TRUST, bytes, ids.temporary())
      return ok(undefined)
    }),
  )
}

async function trustRecord(home: Folder): Promise<Result<TrustRecord>> {
  const bytes = await wholeFile(home, TRUST, MOST_BYTES)
  if (bytes === undefined) return ok({ contents: [] })
  const record = TrustRecord.safeParse(jsonOf(bytes))
  if (record.success) return ok(record.data)
  return failed('unreadable', `${home.label}/${TRUST} is not a valid trust file.`, {}, [
    { action: 'Fix the file, or delete it to revoke all trust.' },
  ])
}
