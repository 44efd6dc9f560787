import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { value } from '../../test/support/log/story.ts'
import { systemClock } from './clock.ts'
import { currentBranch } from './git-branch.ts'
import { identifyFolder } from './files/folder-identity.ts'
import { openHome } from './home.ts'
import { systemIds } from './ids.ts'
import { workspaceRegister } from './workspace-register.ts'
import { findWorkspace, foldersUpwards } from './workspace-search.ts'

const ids = systemIds(systemClock)

async function folders(root: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await mkdir(join(root, path), { recursive: true, mode: 0o700 })
}

/** Folders with Sessions: registered in `$HAWSER_HOME`, as `hawser` does before it creates `.hawser`. */
async function workspaces(root: string, ...paths: readonly string[]): Promise<void> {
  const home = value(await openHome(join(root, '.hawser')))
  for (const path of paths) {
    await mkdir(join(root, path), { recursive: true })
    await workspaceRegister(home.own, ids).add(value(await identifyFolder(join(root, path))))
    await mkdir(join(root, path, '.hawser'), { mode: 0o700 })
  }
  await home.close()
}

async function repository(folder: string, branch = 'main'): Promise<void> {
  await mkdir(join(folder, '.git'), { recursive: true })
  await writeFile(join(folder, '.git', 'HEAD'), `ref: refs/heads/${branch}\n`)
}

/** The workspace and the folder in it, both relative to `root`, which is the user's home. */
async function found(root: string, from: string, home = root): Promise<readonly [string, string]> {
  const ends = { hawserHome: join(root, '.hawser'), userHome: home }
  const { path, folder } = await findWorkspace(join(root, from), ends)
  return [path === root ? '~' : path.slice(root.length + 1), folder]
}

function branchAt(folder: string): Promise<string | undefined> {
  return currentBranch(foldersUpwards(folder, undefined))
}

test('without a repository or Sessions, the workspace is the folder itself', async () => {
  const root = await freshFolder()
  await folders(root, '.hawser', 'a/b')
  expect(await found(root, 'a/b')).toEqual(['a/b', ''])
  expect(await found(root, '')).toEqual(['~', ''])
})

test('the nearest folder with Sessions wins, even over a git root above it', async () => {
  const root = await freshFolder()
  await workspaces(root, 'a', 'repo/sub')
  await folders(root, 'a/b/c', 'repo/sub/deep')
  await repository(join(root, 'repo'))
  expect(await found(root, 'a/b/c')).toEqual(['a', 'b/c'])
  expect(await found(root, 'repo/sub/deep')).toEqual(['repo/sub', 'deep'])
})

test('otherwise the git root is the workspace, and the search ends there', async () => {
  const root = await freshFolder()
  await workspaces(root, 'a')
  await folders(root, 'a/repo/src/x')
  await repository(join(root, 'a/repo'))
  expect(await found(root, 'a/repo/src/x')).toEqual(['a/repo', 'src/x'])
  expect(await found(root, 'a/repo')).toEqual(['a/repo', ''])
})

test('in nested repositories the inner one is the workspace', async () => {
  const root = await freshFolder()
  await workspaces(root, 'outer')
  await folders(root, 'outer/inner/src')
  await repository(join(root, 'outer'), 'outside')
  await repository(join(root, 'outer/inner'), 'inside')
  expect(await found(root, 'outer/inner/src')).toEqual(['outer/inner', 'src'])
  expect(await branchAt(join(root, 'outer/inner/src'))).toBe('inside')
})

test('the home is a workspace only when the search starts there', async () => {
  const root = await freshFolder()
  // Sessions of the home itself, with `$HAWSER_HOME` elsewhere.
  await workspaces(root, 'home')
  await folders(root, 'home/project')
  await repository(join(root, 'home'))
  const home = join(root, 'home')
  expect(await found(root, 'home/project', home)).toEqual(['home/project', ''])
  expect(await found(root, 'home', home)).toEqual(['home', ''])
})

test('$HAWSER_HOME is never a workspace, whatever path leads to it', async () => {
  const root = await freshFolder()
  await folders(root, 'a/.hawser', 'a/b')
  await symlink(join(root, 'a'), join(root, 'link'))
  const ends = { hawserHome: join(root, 'link', '.hawser'), userHome: undefined }
  expect(await findWorkspace(join(root, 'a/b'), ends)).toEqual({
    path: join(root, 'a/b'),
    folder: '',
  })
})

test('a `.hawser` that is a link, a file, or writable by others is ignored', async () => {
  const root = await freshFolder()
  await workspaces(root, 'repo/open')
  await folders(root, 'elsewhere', 'repo/link/x', 'repo/file/x', 'repo/open/x')
  await repository(join(root, 'repo'))
  await symlink(join(root, 'elsewhere'), join(root, 'repo/link/.hawser'))
  await writeFile(join(root, 'repo/file/.hawser'), '')
  await chmod(join(root, 'repo/open/.hawser'), 0o755)
  for (const name of ['link', 'file', 'open']) {
    expect(await found(root, `repo/${name}/x`)).toEqual(['repo', `${name}/x`])
  }
})

test('a `.hawser` that this home did not create is not taken as a workspace', async () => {
  const root = await freshFolder()
  await workspaces(root, 'w', 'w/pkg')
  await folders(root, 'w/sub/.hawser/sessions', 'w/sub/deep', 'w/pkg/deep', 'alone/.hawser')
  await writeFile(join(root, 'w/sub/.hawser/config.json'), '{"model":"planted"}')
  expect(await found(root, 'w/sub')).toEqual(['w', 'sub'])
  expect(await found(root, 'w/sub/deep')).toEqual(['w', 'sub/deep'])
  expect(await found(root, 'w/pkg/deep')).toEqual(['w/pkg', 'deep'])
  // There is no other one: opening it decides what applies there.
  expect(await found(root, 'alone')).toEqual(['alone', ''])
})

const asRoot = process.getuid?.() === 0
const SOMEONE = 65_534

test.skipIf(!asRoot)('the search ends below a folder of another user', async () => {
  const root = await freshFolder()
  await workspaces(root, 'a', 'b')
  await folders(root, 'a/theirs/mine/sub', 'b/c')
  await repository(join(root, 'a/theirs'))
  await chown(join(root, 'a/theirs'), SOMEONE, SOMEONE)
  expect(await found(root, 'a/theirs/mine/sub')).toEqual(['a/theirs/mine/sub', ''])
  expect(await found(root, 'a/theirs')).toEqual(['a/theirs', ''])
  await chown(join(root, 'b/.hawser'), SOMEONE, SOMEONE)
  expect(await found(root, 'b/c')).toEqual(['b/c', ''])
})

test('a HEAD that is a pipe, a link or names no branch yields no branch and never blocks', async () => {
  const root = await freshFolder()
  await folders(root, 'pipe/.git', 'link/.git', 'detached', 'loop')
  execFileSync('mkfifo', [join(root, 'pipe/.git/HEAD')])
  await symlink('/etc/hostname', join(root, 'link/.git/HEAD'))
  await writeFile(join(root, 'loop/.git'), 'gitdir: .\n')
  await repository(join(root, 'detached'))
  await writeFile(join(root, 'detached/.git/HEAD'), `${'a'.repeat(40)}\n`)
  for (const name of ['pipe', 'link', 'detached', 'loop']) {
    expect(await branchAt(join(root, name))).toBeUndefined()
  }
})

function git(folder: string, ...argv: readonly string[]): void {
  const fixed = ['-c', 'user.name=x', '-c', 'user.email=x@y', '-c', 'protocol.file.allow=always']
  execFileSync('git', ['-C', folder, ...fixed, ...argv], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  })
}

const noGit = (() => {
  try {
    git('/', '--version')
    return false
  } catch {
    return true
  }
})()

test.skipIf(noGit)(
  'a worktree and a submodule are workspaces with their own branches',
  async () => {
    const root = await freshFolder()
    await folders(root, 'main/sub', 'other')
    for (const name of ['main', 'other']) {
      git(join(root, name), 'init', '-q', '-b', `of-${name}`)
      git(join(root, name), 'commit', '-q', '--allow-empty', '-m', 'one')
    }
    git(join(root, 'main'), 'worktree', 'add', '-q', '-b', 'aside', join(root, 'tree'))
    git(join(root, 'main'), 'submodule', 'add', '-q', join(root, 'other'), 'module')
    await folders(root, 'tree/src', 'main/module/src')
    expect(await found(root, 'main/sub')).toEqual(['main', 'sub'])
    expect(await found(root, 'tree/src')).toEqual(['tree', 'src'])
    expect(await found(root, 'main/module/src')).toEqual(['main/module', 'src'])
    expect(await branchAt(join(root, 'main/sub'))).toBe('of-main')
    expect(await branchAt(join(root, 'tree/src'))).toBe('aside')
    expect(await branchAt(join(root, 'main/module/src'))).toBe('of-other')
  },
)
