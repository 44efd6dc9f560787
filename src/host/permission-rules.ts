import { realpathSync } from 'node:fs'
import * as z from 'zod'
import { failed, ok, type Result } from '../model/errors.ts'
import { Rule } from '../model/rule.ts'
import type { Clock } from './clock.ts'
import {
  asResult,
  closing,
  ifThere,
  readSpan,
  replaceFile,
  asFileFailure,
  type Folder,
} from './files/files.ts'
import { underShortLock } from './short-lock.ts'
import type { Ids } from './ids.ts'

/** A rule of a workspace, and when it was made. */
export interface StoredRule {
  readonly rule: Rule
  readonly at: string
}

/**
 * The rules a person made for one workspace. They are stored in `$HAWSER_HOME` under the real path of the workspace, so
 * that nothing in a repository can extend what is allowed there.
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
  readonly workspace: string
  readonly ids: Ids
  readonly clock: Clock
}

export function workspaceRules(parts: RuleStoreParts): RuleStore {
  const change = (
    doing: string,
    next: (rules: readonly StoredRule[]) => readonly StoredRule[],
  ): Promise<Result<boolean>> =>
    asResult(`${doing} ${parts.home.label}/${NAME}`, () =>
      underShortLock({ folder: parts.home, clock: parts.clock }, async () => {
        const place = await placeOf(parts)
        const stored = await readFile(parts.home)
        if (!stored.ok) return stored
        const before = stored.value.workspaces[place] ?? []
        const after = next(before)
        if (after.length === before.length) return ok(false)
        const { [place]: _replaced, ...others } = stored.value.workspaces
        const workspaces = after.length === 0 ? others : { ...others, [place]: after }
        const bytes = Buffer.from(`${JSON.stringify({ ...stored.value, workspaces }, null, 2)}\n`)
        await replaceFile(parts.home, NAME, bytes, parts.ids.temporary())
        return ok(true)
      }),
    )
  return {
    read: () =>
      asResult(`read ${parts.home.label}/${NAME}`, async () => {
        const place = await placeOf(parts)
        const stored = await readFile(parts.home)
        return stored.ok ? ok(stored.value.workspaces[place] ?? []) : stored
      }),
    add: async (rule) => {
      const at = new Date(parts.clock.now()).toISOString()
      const added = await change('write', (rules) =>
        rules.some((one) => isSame(one.rule, rule)) ? rules : [...rules, { rule, at }],
      )
      return added.ok ? ok(undefined) : added
    },
    remove: (rule) => change('write', (rules) => rules.filter((one) => !isSame(one.rule, rule))),
  }
}

const NAME = 'permissions.json'
const MOST_BYTES = 1024 * 1024

const StoredRule = z.object({ rule: Rule, at: z.string() })
const RuleFile = z.object({
  v: z.literal(1),
  workspaces: z.record(z.string(), z.array(StoredRule)),
})
type RuleFile = z.infer<typeof RuleFile>

function placeOf({ workspace }: RuleStoreParts): Promise<string> {
  return asFileFailure(realPath(workspace))
}

/** Synchronous inside: before every call of a tool, and a thread would cost ten times as much. */
async function realPath(path: string): Promise<string> {
  return realpathSync.native(path)
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

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

function isSame(a: Rule, b: Rule): boolean {
  return keyOf(a) === keyOf(b)
}

function keyOf(rule: Rule): string {
  return JSON.stringify(Object.entries(rule).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
