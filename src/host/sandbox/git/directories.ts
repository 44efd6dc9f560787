import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { realPath } from '../mounts/hidden-mounts.ts'
import { isIn } from '../mounts/readable-mounts.ts'

/**
 * The git directories outside a workspace that git writes for it: the common directory of a linked worktree, or the module
 * directory of a submodule. Real paths. A `.git` file can name anything, so a directory counts only if it is a git
 * directory of our user that points back to this workspace; nothing inside the sandbox could write that.
 */
export async function gitDirectoriesOf(workspace: string): Promise<readonly string[]> {
  const value = await firstLine(join(workspace, '.git'))
  const path = /^gitdir: (.+)$/.exec(value ?? '')?.[1]
  if (path === undefined) return []
  const directory = await realPath(resolve(workspace, path))
  if (directory === undefined || isIn(directory, workspace)) return []
  const common = await commonOf(workspace, directory)
  const found = common ?? ((await isModuleOf(workspace, directory)) ? directory : undefined)
  if (found === undefined || isIn(found, workspace) || isIn(workspace, found)) return []
  return (await isOurRepository(found)) ? [found] : []
}

async function commonOf(workspace: string, directory: string): Promise<string | undefined> {
  const [back, up] = await Promise.all([
    firstLine(join(directory, 'gitdir')),
    firstLine(join(directory, 'commondir')),
  ])
  if (back === undefined || up === undefined || basename(back) !== '.git') return undefined
  const [home, common] = await Promise.all([
    realPath(resolve(directory, dirname(back))),
    realPath(resolve(directory, up)),
  ])
  const isItsWorktree = common !== undefined && dirname(directory) === join(common, 'worktrees')
  return home === workspace && isItsWorktree ? common : undefined
}

async function isModuleOf(workspace: string, directory: string): Promise<boolean> {
  if (!directory.includes('/modules/')) return false
  const config = await text(join(directory, 'config'))
  const value = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(config ?? '')?.[1]
  return value !== undefined && (await realPath(resolve(directory, value))) === workspace
}

async function isOurRepository(directory: string): Promise<boolean> {
  const facts = await Promise.all(
    ['', 'HEAD', 'objects', 'refs'].map((name) =>
      stat(join(directory, name)).catch(() => undefined),
    ),
  )
  const [own, head, objects, refs] = facts
  const ours = own?.uid === process.geteuid?.() && ((own?.mode ?? 0o002) & 0o002) === 0
  return ours && head?.isFile() === true && objects?.isDirectory() === true && refs !== undefined
}

async function firstLine(path: string): Promise<string | undefined> {
  return (await text(path))?.split('\n')[0]?.trimEnd()
}

const MOST_BYTES = 65_536

/** Reads a regular file. Never blocks on a pipe and follows no link. */
async function text(path: string): Promise<string | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    if (!(await file.stat()).isFile()) return undefined
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
