import { constants } from 'node:fs'
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import type { Mount } from './args.ts'
import { isIn } from './showing.ts'
import { waysTo } from './protected-mounts.ts'
import { protectedPlaces, type ProtectedPlace } from './protected-places.ts'

/**
 * The git directories outside a workspace that git writes for it: the common directory when the workspace is a linked
 * worktree, the module's own when it is a submodule. Real paths. A `.git` file can say anything, so what it names counts
 * only when it is a git directory of our user that names this workspace in its turn, which nothing inside could write.
 */
export async function gitDirectoriesOf(workspace: string): Promise<readonly string[]> {
  const said = await firstLine(join(workspace, '.git'))
  const path = /^gitdir: (.+)$/.exec(said ?? '')?.[1]
  if (path === undefined) return []
  const directory = await real(resolve(workspace, path))
  if (directory === undefined || isIn(directory, workspace)) return []
  const common = await commonOf(workspace, directory)
  const found = common ?? ((await isModuleOf(workspace, directory)) ? directory : undefined)
  if (found === undefined || isIn(found, workspace) || isIn(workspace, found)) return []
  return (await isOurRepository(found)) ? [found] : []
}

/** What git reads in its directory as configuration, as programs to run, or as the place of either. */
const READ_BY_GIT = ['config', 'config.worktree', 'hooks', 'commondir', 'gitdir']

/** The protected paths of a git directory: its own, those of its worktrees, and those of its submodules at any depth. */
async function protectedInGitDirectory(directory: string): Promise<readonly string[]> {
  const worktrees = await foldersIn(join(directory, 'worktrees'))
  const modules = await modulesIn(join(directory, 'modules'), 'modules', MODULES_DEEP)
  const below = [...worktrees.map((name) => join('worktrees', name)), ...modules]
  return ['', ...below].flatMap((folder) => READ_BY_GIT.map((name) => join(folder, name)))
}

/** A git directory, what may appear in it, and what stands there now. */
export interface WatchedGitDirectory {
  readonly at: string
  readonly paths: readonly string[]
  readonly before: readonly ProtectedPlace[]
}

export async function watchedGitDirectory(at: string): Promise<WatchedGitDirectory> {
  const paths = await protectedInGitDirectory(at)
  return { at, paths, before: await protectedPlaces(at, paths) }
}

/** A git directory is writable but for what git reads; folders on the way cannot be moved. */
export async function gitDirectoryMounts(directory: string): Promise<readonly Mount[]> {
  const paths = await protectedInGitDirectory(directory)
  const there = await Promise.all(
    paths.map(async (path) => {
      const at = join(directory, path)
      const facts = await lstat(at).catch(() => undefined)
      return facts?.isFile() === true || facts?.isDirectory() === true ? [at] : []
    }),
  )
  const held = there.flat()
  return [
    { at: directory, as: 'writable' },
    ...held.flatMap((path) => waysTo(directory, path)).map((at): Mount => ({ at, as: 'writable' })),
    ...held.map((at): Mount => ({ at, as: 'readable' })),
  ]
}

async function commonOf(workspace: string, directory: string): Promise<string | undefined> {
  const [back, up] = await Promise.all([
    firstLine(join(directory, 'gitdir')),
    firstLine(join(directory, 'commondir')),
  ])
  if (back === undefined || up === undefined || basename(back) !== '.git') return undefined
  const [home, common] = await Promise.all([
    real(resolve(directory, dirname(back))),
    real(resolve(directory, up)),
  ])
  const isItsWorktree = common !== undefined && dirname(directory) === join(common, 'worktrees')
  return home === workspace && isItsWorktree ? common : undefined
}

async function isModuleOf(workspace: string, directory: string): Promise<boolean> {
  if (!directory.includes('/modules/')) return false
  const config = await text(join(directory, 'config'))
  const said = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(config ?? '')?.[1]
  return said !== undefined && (await real(resolve(directory, said))) === workspace
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

const MODULES_DEEP = 4

/** A module may be named with slashes, and have modules itself. */
async function modulesIn(folder: string, path: string, deep: number): Promise<readonly string[]> {
  if (deep === 0) return []
  const found = await Promise.all(
    (await foldersIn(folder)).map(async (name) => {
      const [at, here] = [join(folder, name), join(path, name)]
      const isModule = (await stat(join(at, 'HEAD')).catch(() => undefined)) !== undefined
      return isModule
        ? [here, ...(await modulesIn(join(at, 'modules'), join(here, 'modules'), deep - 1))]
        : modulesIn(at, here, deep - 1)
    }),
  )
  return found.flat()
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

async function real(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined)
}

async function firstLine(path: string): Promise<string | undefined> {
  return (await text(path))?.split('\n')[0]?.trimEnd()
}

const MOST_BYTES = 65_536

/** Of a regular file; never waits on a pipe, and follows no link. */
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
