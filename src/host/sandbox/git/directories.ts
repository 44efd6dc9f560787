import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import type { FolderIdentity } from '../../../model/folder-identity.ts'
import { FileFailure } from '../../files/files.ts'
import { atFolder, identifyFolder } from '../../files/folder-identity.ts'
import { realPathOf } from '../../files/look.ts'
import { isIn } from '../mounts/readable-mounts.ts'

/**
 * The git directories outside a workspace that git writes for it: the common directory of a linked worktree, or the module
 * directory of a submodule. A `.git` file can name anything, so a directory counts only if it is a git directory of our user
 * that points back to this workspace; nothing inside the sandbox could write that. It is judged by what is in the folder
 * that the identity names, so another one that is put at its path meanwhile is not treated as it.
 */
export async function gitDirectoriesOf(workspace: string): Promise<readonly FolderIdentity[]> {
  const value = await firstLine(join(workspace, '.git'))
  const path = /^gitdir: (.+)$/.exec(value ?? '')?.[1]
  const directory = path === undefined ? undefined : realPathOf(resolve(workspace, path))
  if (directory === undefined || isIn(directory, workspace)) return []
  const isWorktree = basename(dirname(directory)) === 'worktrees'
  const found = isWorktree ? dirname(dirname(directory)) : directory
  if (isIn(found, workspace) || isIn(workspace, found)) return []
  const folder = await identifyFolder(found)
  if (!folder.ok || folder.value.path !== found) return []
  const isItsOwn = await atFolder(folder.value, async (at) => {
    const pointsBack = isWorktree
      ? await isCommonOf(workspace, at, directory)
      : await isModuleOf(workspace, at, directory)
    return pointsBack && isOurRepository(at)
  }).catch(unlessReplaced)
  return isItsOwn ? [folder.value] : []
}

function unlessReplaced(error: unknown): false {
  if (error instanceof FileFailure) return false
  throw error
}

/** `at` leads to the common directory, and `directory` is the path of the part of it that belongs to the worktree. */
async function isCommonOf(workspace: string, at: string, directory: string): Promise<boolean> {
  const part = join(at, 'worktrees', basename(directory))
  const [back, up] = await Promise.all([
    firstLine(join(part, 'gitdir')),
    firstLine(join(part, 'commondir')),
  ])
  if (back === undefined || up === undefined || basename(back) !== '.git') return false
  const home = realPathOf(resolve(directory, dirname(back)))
  const common = realPathOf(resolve(directory, up))
  return home === workspace && common === dirname(dirname(directory))
}

async function isModuleOf(workspace: string, at: string, directory: string): Promise<boolean> {
  if (!directory.includes('/modules/')) return false
  const config = await text(join(at, 'config'))
  const value = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(config ?? '')?.[1]
  return value !== undefined && realPathOf(resolve(directory, value)) === workspace
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
