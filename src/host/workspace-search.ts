import { lstatSync, statSync, type BigIntStats, type Stats } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { isGitRoot } from './git-branch.ts'
import { isOwn, originOf } from './workspaces/origin.ts'

/** Folders at which the search stops. */
export interface SearchEnds {
  /** `$HAWSER_HOME`, which is not the `.hawser` of a workspace. */
  readonly hawserHome: string
  /** The user's home: the search stays below it. */
  readonly userHome: string | undefined
}

export interface FoundWorkspace {
  readonly path: string
  /** The starting folder relative to the workspace; empty at its root. */
  readonly folder: string
}

/**
 * Finds the workspace for the folder `from`: the nearest folder upwards with a `.hawser` that this home created or adopted,
 * else the git root, else `from` itself. The search ends at the git root, below the user's home, and below a folder of
 * another owner. Read-only: opening the workspace checks it again.
 *
 * Synchronous inside, as `foldersUpwards`: the system answers from memory, and a thread would cost ten times as much.
 */
export async function findWorkspace(from: string, ends: SearchEnds): Promise<FoundWorkspace> {
  for (const path of foldersUpwards(from, ends.userHome)) {
    if (hasOwnPlace(path, ends.hawserHome) || (await isGitRoot(path))) {
      return { path, folder: relative(path, from) }
    }
  }
  return { path: from, folder: '' }
}

/** `from`, regardless of its owner, then its ancestors while they are ours and below the home. */
export function* foldersUpwards(from: string, userHome: string | undefined): Generator<string> {
  const home = userHome === undefined ? undefined : identityOf(userHome)
  const isEnd = (folder: string) => !isOurs(folder) || identityOf(folder) === home
  yield from
  if (isEnd(from)) return
  for (let below = from, folder = dirname(from); folder !== below; folder = dirname(folder)) {
    if (isEnd(folder)) return
    yield folder
    below = folder
  }
}

function hasOwnPlace(folder: string, hawserHome: string): boolean {
  const path = join(folder, '.hawser')
  const facts = factsOf(() => lstatSync(path, { throwIfNoEntry: false }))
  if (facts === undefined || !facts.isDirectory()) return false
  const ours = facts.uid === process.geteuid?.() && (facts.mode & 0o777) === 0o700
  if (!ours || identityOf(path) === identityOf(hawserHome)) return false
  // A command of a model, or a repository, can create a folder like ours.
  return isOwn(originOf(folder, hawserHome))
}

function isOurs(folder: string): boolean {
  const facts = factsOf(() => statSync(folder, { throwIfNoEntry: false }))
  return facts !== undefined && facts.uid === process.geteuid?.()
}

/** Equal for two spellings of one folder. */
function identityOf(folder: string): string | undefined {
  const facts = factsOf(() => statSync(folder, { bigint: true, throwIfNoEntry: false }))
  return facts === undefined ? undefined : `${facts.dev}:${facts.ino}`
}

/** `undefined` if the system does not tell. */
function factsOf<Facts extends Stats | BigIntStats>(
  ask: () => Facts | undefined,
): Facts | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
