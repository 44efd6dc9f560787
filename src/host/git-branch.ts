import { constants, statSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Whether this folder is the root of a git work tree, including linked worktrees and submodules. */
export async function isGitRoot(folder: string): Promise<boolean> {
  return (await headIn(folder)) !== undefined
}

/**
 * The branch checked out in the innermost of these folders that is a work tree; absent when HEAD is detached. Reads the
 * HEAD file; runs no program.
 */
export async function currentBranch(innermostFirst: Iterable<string>): Promise<string | undefined> {
  for (const folder of innermostFirst) {
    const head = await headIn(folder)
    if (head === undefined) continue
    const branch = /^ref: refs\/heads\/(\S+)\s*$/.exec(head)?.[1]
    return branch === REFTABLE ? undefined : branch
  }
  return undefined
}

/** The content of HEAD in repositories that use the reftable format. */
const REFTABLE = '.invalid'

/** The content of HEAD. In a linked worktree or a submodule, `.git` is a file that names the git directory. */
async function headIn(folder: string): Promise<string | undefined> {
  const path = join(folder, '.git')
  const facts = factsBehind(path)
  if (facts?.isDirectory() === true) return shortFile(join(path, 'HEAD'))
  if (facts?.isFile() !== true) return undefined
  const named = /^gitdir: ([^\n\0]+)/.exec((await shortFile(path)) ?? '')?.[1]
  return named === undefined ? undefined : shortFile(resolve(folder, named.trimEnd(), 'HEAD'))
}

/** Synchronous: this is asked of every folder upwards, most of which have no `.git`. */
function factsBehind(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const HEAD_BYTES = 4096
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants

/** Repositories are untrusted, and so are paths in them: reads only a regular file, and only its start. */
async function shortFile(path: string): Promise<string | undefined> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY).catch(
    () => undefined,
  )
  if (handle === undefined) return undefined
  try {
    if (!(await handle.stat()).isFile()) return undefined
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}
