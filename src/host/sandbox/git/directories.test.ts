import { chmod, mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { gitDirectoriesOf } from './directories.ts'

async function pathsOf(workspace: string): Promise<readonly string[]> {
  return (await gitDirectoriesOf(workspace)).map(({ path }) => path)
}

async function written(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
}

/** A repository with a linked worktree at `ws`, as git creates it. */
async function linked(): Promise<{ readonly root: string; readonly ws: string }> {
  const root = await realpath(await freshFolder())
  const ws = join(root, 'ws')
  await written(root, {
    'main/.git/HEAD': 'ref: refs/heads/main\n',
    'main/.git/config': '',
    'main/.git/objects/x': '',
    'main/.git/refs/x': '',
    'main/.git/worktrees/ws/HEAD': 'ref: refs/heads/b\n',
    'main/.git/worktrees/ws/commondir': '../..\n',
    'main/.git/worktrees/ws/gitdir': `${ws}/.git\n`,
    'ws/.git': `gitdir: ${root}/main/.git/worktrees/ws\n`,
  })
  return { root, ws }
}

test('finds the common directory of a linked worktree', async () => {
  const { root, ws } = await linked()
  expect(await pathsOf(ws)).toEqual([join(root, 'main/.git')])
})

test('finds the git directory of a submodule', async () => {
  const root = await realpath(await freshFolder())
  const module = 'main/.git/modules/sub'
  await written(root, {
    [`${module}/HEAD`]: 'ref: refs/heads/main\n',
    [`${module}/config`]: '[core]\n\tworktree = ../../../sub\n',
    [`${module}/objects/x`]: '',
    [`${module}/refs/x`]: '',
    'main/sub/.git': 'gitdir: ../.git/modules/sub\n',
  })
  expect(await pathsOf(join(root, 'main/sub'))).toEqual([join(root, module)])
})

test.each<[string, (root: string, ws: string) => Promise<unknown>]>([
  [
    'of another worktree',
    (root) => writeFile(join(root, 'main/.git/worktrees/ws/gitdir'), `${root}/other/.git\n`),
  ],
  [
    'whose common directory is elsewhere',
    (root) => writeFile(join(root, 'main/.git/worktrees/ws/commondir'), `${root}\n`),
  ],
  ['that is not a git directory', (root, ws) => writeFile(join(ws, '.git'), `gitdir: ${root}\n`)],
  [
    'that is the main directory of another repository',
    (root, ws) => writeFile(join(ws, '.git'), `gitdir: ${root}/main/.git\n`),
  ],
  ['that anyone can write', (root) => chmod(join(root, 'main/.git'), 0o777)],
])('a .git file that names a directory %s grants nothing', async (_, spoil) => {
  const { root, ws } = await linked()
  await spoil(root, ws)
  expect(await pathsOf(ws)).toEqual([])
})

test('a symbolic link in place of .git grants nothing', async () => {
  const { root } = await linked()
  const ws = join(root, 'other')
  await mkdir(ws)
  await symlink(join(root, 'ws/.git'), join(ws, '.git'))
  expect(await pathsOf(ws)).toEqual([])
})
