import { lstat, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { isGitRoot } from './git-branch.ts'

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
 * Finds the workspace for the folder `from`: the nearest folder upwards with a `.hawser` of ours, else the git root, else
 * `from` itself. The search ends at the git root, below the user's home, and below a folder of another owner. Read-only:
 * opening the workspace checks it again.
 */
export async function findWorkspace(from: string, ends: SearchEnds): Promise<FoundWorkspace> {
  for await (const path of foldersUpwards(from, ends.userHome)) {
    if ((await hasOwnPlace(path, ends.hawserHome)) || (await isGitRoot(path))) {
      return { path, folder: relative(path, from) }
    }
  }
  return { path: from, folder: '' }
}

/** `from`, regardless of its owner, then its ancestors while they are ours and below the home. */
export async function* foldersUpwards(
  from: string,
  userHome: string | undefined,
): AsyncGenerator<string> {
  const home = userHome === undefined ? undefined : await identityOf(userHome)
  const isEnd = async (folder: string) =>
    !(await isOurs(folder)) || (await identityOf(folder)) === home
  yield from
  if (await isEnd(from)) return
  for (let below = from, folder = dirname(from); folder !== below; folder = dirname(folder)) {
    if (await isEnd(folder)) return
    yield folder
    below = folder
  }
}

async function hasOwnPlace(folder: string, hawserHome: string): Promise<boolean> {
  const path = join(folder, '.hawser')
  const facts = await lstat(path).catch(() => undefined)
  if (facts === undefined || !facts.isDirectory()) return false
  const ours = facts.uid === process.geteuid?.() && (facts.mode & 0o777) === 0o700
  return ours && (await identityOf(path)) !== (await identityOf(hawserHome))
}

async function isOurs(folder: string): Promise<boolean> {
  const facts = await stat(folder).catch(() => undefined)
  return facts !== undefined && facts.uid === process.geteuid?.()
}

/** Equal for two spellings of one folder. */
async function identityOf(folder: string): Promise<string | undefined> {
  const facts = await stat(folder, { bigint: true }).catch(() => undefined)
  return facts === undefined ? undefined : `${facts.dev}:${facts.ino}`
}
