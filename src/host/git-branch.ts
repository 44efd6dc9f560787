import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Whether a working tree of git begins here: also that of a linked worktree or of a submodule. */
export async function isGitRoot(folder: string): Promise<boolean> {
  return (await headIn(folder)) !== undefined
}

/**
 * The branch that is checked out in the working tree of the innermost of these folders that is one; absent where the head is
 * detached. Read from the file that git keeps it in: no program runs for that.
 */
export async function currentBranch(
  innermostFirst: AsyncIterable<string>,
): Promise<string | undefined> {
  for await (const folder of innermostFirst) {
    const head = await headIn(folder)
    if (head === undefined) continue
    const branch = /^ref: refs\/heads\/(\S+)\s*$/.exec(head)?.[1]
    return branch === REFTABLE ? undefined : branch
  }
  return undefined
}

/** Stands in HEAD where a repository keeps its references in another format. */
const REFTABLE = '.invalid'

/** The text of HEAD. In a worktree and in a submodule `.git` is a file that names the folder which holds it. */
async function headIn(folder: string): Promise<string | undefined> {
  const path = join(folder, '.git')
  const facts = await stat(path).catch(() => undefined)
  if (facts?.isDirectory() === true) return shortFile(join(path, 'HEAD'))
  if (facts?.isFile() !== true) return undefined
  const named = /^gitdir: ([^\n\0]+)/.exec((await shortFile(path)) ?? '')?.[1]
  return named === undefined ? undefined : shortFile(resolve(folder, named.trimEnd(), 'HEAD'))
}

const HEAD_BYTES = 4096
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants

/** A repository may come from anywhere, and so may the path in it: nothing but a regular file is read, and little of it. */
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
