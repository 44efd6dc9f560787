import * as z from 'zod'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import { isSameFolder, type FolderIdentity } from '../model/folder-identity.ts'
import { RecordedFolder } from '../model/recorded-folder.ts'
import { Rule } from '../model/rule.ts'
import { closedObject, type Frozen } from '../model/shape.ts'
import type { Clock } from './clock.ts'
import { asResult, closing, ifThere, readSpan, replaceFile, type Folder } from './files/files.ts'
import type { FolderPlace } from './files/disk.ts'
import { identifyFolder } from './files/folder-identity.ts'
import { jsonOf } from './files/json-file.ts'
import { underShortLock } from './short-lock.ts'
import type { Ids } from './ids.ts'

/** A rule of a workspace, and when it was made. */
export interface StoredRule {
  readonly rule: Rule
  readonly at: string
}

/**
 * The rules a person made for one workspace. They are stored in `$HAWSER_HOME` under the real path of the workspace, so
 * that nothing in a repository can extend what is allowed there. In another folder that is at this path now, only those that
 * deny apply; the next rule that is made there replaces the others.
 */
export interface RuleStore {
  /** In the order in which they were made. */
  read(): Promise<Result<readonly StoredRule[]>>
  /** Durable once it resolves. An existing rule is not added again. */
  add(rule: Rule): Promise<Result<void>>
  /** Returns whether the rule existed. */
  remove(rule: Rule): Promise<Result<boolean>>
}

export interface RuleStoreParts {
  /** `$HAWSER_HOME`. */
  readonly home: Folder
  /** A path means the folder that it leads to at each call. */
  readonly workspace: FolderPlace
  readonly ids: Ids
  readonly clock: Clock
  /** Whether a rule contains a key. Such a rule is not stored, because a redacted one would match nothing. */
  readonly holdsKey: (rule: Rule) => boolean
}

export function workspaceRules(parts: RuleStoreParts): RuleStore {
  const change = (
    doing: string,
    next: (rules: readonly StoredRule[]) => readonly StoredRule[],
  ): Promise<Result<boolean>> =>
    asResult(`${doing} ${parts.home.label}/${NAME}`, () =>
      underShortLock({ folder: parts.home, clock: parts.clock }, async () => {
        const [folder, stored] = [await workspaceFolder(parts), await readFile(parts.home)]
        if (!folder.ok) return folder
        if (!stored.ok) return stored
        const before = rulesIn(stored.value, folder.value)
        const after = next(before)
        const isAdopted = hasNoFolder(stored.value, folder.value.path)
        if (after.length === before.length && !isAdopted) return ok(false)
        const changed = withRules(stored.value, folder.value, after)
        const bytes = Buffer.from(`${JSON.stringify(changed, null, 2)}\n`)
        await replaceFile(parts.home, NAME, bytes, parts.ids.temporary())
        return ok(after.length !== before.length)
      }),
    )
  return {
    read: () =>
      asResult(`read ${parts.home.label}/${NAME}`, async () => {
        const stored = await readFile(parts.home)
        if (!stored.ok) return stored
        // Read for every call of a tool, and most people have no rules: then no folder needs to be identified.
        if (Object.keys(stored.value.workspaces).length === 0) return ok([])
        const folder = await workspaceFolder(parts)
        if (!folder.ok) return folder
        // An older version wrote it: the folder that is there now is the one.
        const isAdopted = hasNoFolder(stored.value, folder.value.path)
        const kept = isAdopted ? await change('write', (rules) => rules) : ok(true)
        return kept.ok ? ok(rulesIn(stored.value, folder.value)) : kept
      }),
    add: async (rule) => {
      if (parts.holdsKey(rule)) return keyedRule()
      const at = new Date(parts.clock.now()).toISOString()
      const added = await change('write', (rules) =>
        rules.some((one) => isSameRule(one.rule, rule)) ? rules : [...rules, { rule, at }],
      )
      return added.ok ? ok(undefined) : added
    },
    remove: (rule) =>
      change('write', (rules) => rules.filter((one) => !isSameRule(one.rule, rule))),
  }
}

function keyedRule(): Failed {
  const message = 'The rule contains a configured API key, so it is not stored.'
  return failed('invalid_args', message, {}, [
    { action: 'Allow it once, or read the key from a file or a variable in the command.' },
  ])
}

const NAME = 'permissions.json'
const MOST_BYTES = 1024 * 1024

const StoredRule = closedObject(() => ({ rule: Rule, at: z.string() }))
const RuleFile = closedObject(() => ({
  v: z.literal(1),
  workspaces: z.record(z.string(), z.array(StoredRule)),
  /** Which folder each of them is. */
  folders: z.record(z.string(), RecordedFolder).optional(),
}))
type RuleFile = Frozen<z.infer<typeof RuleFile>>

async function workspaceFolder({ workspace }: RuleStoreParts): Promise<Result<FolderIdentity>> {
  return typeof workspace === 'string' ? identifyFolder(workspace) : ok(workspace)
}

function rulesIn(
  { workspaces, folders = {} }: RuleFile,
  folder: FolderIdentity,
): readonly StoredRule[] {
  const rules = workspaces[folder.path] ?? []
  const recorded = folders[folder.path]
  const isOther = recorded !== undefined && !isSameFolder(recorded, folder)
  return isOther ? rules.filter(({ rule }) => rule.answer === 'deny') : rules
}

function hasNoFolder({ workspaces, folders = {} }: RuleFile, path: string): boolean {
  return workspaces[path] !== undefined && folders[path] === undefined
}

function withRules(file: RuleFile, folder: FolderIdentity, rules: readonly StoredRule[]): RuleFile {
  const { path } = folder
  const { [path]: _rules, ...workspaces } = file.workspaces
  const { [path]: _folder, ...folders } = file.folders ?? {}
  if (rules.length === 0) return { ...file, workspaces, folders }
  return {
    ...file,
    workspaces: { ...workspaces, [path]: rules },
    folders: { ...folders, [path]: folder },
  }
}

/** Rejects the whole file if anything in it is unknown: a skipped rule could be one that denies. */
async function readFile(home: Folder): Promise<Result<RuleFile>> {
  const file = await ifThere(home.open(NAME, 'read'))
  if (file === undefined) return ok({ v: 1, workspaces: {} })
  const bytes = await closing(file, async () => {
    const { size } = await file.stat()
    return readSpan(file, 0, Math.min(size, MOST_BYTES))
  })
  const parsed = RuleFile.safeParse(jsonOf(bytes))
  if (parsed.success) return ok(parsed.data)
  return failed(
    'unreadable',
    `${home.label}/${NAME} is not a valid file of permission rules.`,
    {},
    [{ action: 'Fix the file, or delete it to remove all rules.' }],
  )
}

function isSameRule(a: Rule, b: Rule): boolean {
  return ruleText(a) === ruleText(b)
}

function ruleText(rule: Rule): string {
  return JSON.stringify(Object.entries(rule).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
