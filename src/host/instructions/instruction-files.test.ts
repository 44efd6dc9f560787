import { mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { value } from '../../../test/support/log/story.ts'
import { openConfined } from '../files/confined-files.ts'
import { openHome } from '../home.ts'
import { instructionFiles } from './instruction-files.ts'

async function place(now = () => Date.now()) {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  const home = value(await openHome(join(root, 'home')))
  const confined = value(await openConfined(workspace, { refuse: [join(root, 'home')] }))
  onTestFinished(async () => {
    await Promise.all([home.close(), confined.close()])
  })
  const read: string[] = []
  const counted: typeof confined = {
    ...confined,
    read: (path, limit) => {
      read.push(path)
      return confined.read(path, limit)
    },
  }
  const files = instructionFiles({
    files: counted,
    workspace,
    home: home.own,
    limit: 100,
    clock: { now },
  })
  const write = async (path: string, text: string) => {
    await mkdir(join(workspace, path, '..'), { recursive: true })
    await writeFile(join(workspace, path), text)
  }
  return { root, workspace, files, write, read }
}

test('folders are those on the way to a path, and none for a path outside', async () => {
  const { files, workspace } = await place()
  expect(files.foldersTo(['a/b.ts', './a//c', '../x', '/etc/passwd', `${workspace}/d`])).toEqual([
    '',
    'a',
    'a/b.ts',
    'a/c',
    'd',
  ])
  expect(files.foldersTo(['.'])).toEqual([''])
})

test('a folder comes before those below it, and before its siblings in the order of names', async () => {
  const { files, write } = await place()
  const folders = ['b', 'a!/x', 'a/x', 'a', '']
  for (const folder of folders) await write(join(folder, 'AGENTS.md'), folder)
  const found = await files.find(folders)
  expect(found.map(({ path }) => path)).toEqual(
    ['', 'a/', 'a/x/', 'a!/x/', 'b/'].map((folder) => `${folder}AGENTS.md`),
  )
})

test('two ways to one folder give one file, under its real path', async () => {
  const { files, write, workspace } = await place()
  await write('a/AGENTS.md', 'x')
  await symlink('a', join(workspace, 'link'))
  expect((await files.find(['a', 'link'])).map(({ path }) => path)).toEqual(['a/AGENTS.md'])
})

test('a file that did not change for a while is not read again, and any change is noticed', async () => {
  let now = 0
  const { files, write, workspace, read } = await place(() => now)
  const hash = async () => (await files.find(['']))[0]?.sha256
  await write('AGENTS.md', 'one')
  now = (await stat(join(workspace, 'AGENTS.md'))).ctimeMs
  const first = await hash()
  // It was written just now, so the next change could have the same times.
  await hash()
  expect(read).toHaveLength(2)
  now += 10_000
  await hash()
  await hash()
  expect(read).toHaveLength(3)
  now -= 10_000
  await write('AGENTS.md', 'two')
  const second = await hash()
  expect(second).not.toBe(first)
  await write('other', 'six')
  await utimes(join(workspace, 'other'), 0, 0)
  await rename(join(workspace, 'other'), join(workspace, 'AGENTS.md'))
  expect(await hash()).not.toBe(second)
  await rm(join(workspace, 'AGENTS.md'))
  expect(await hash()).toBeUndefined()
  await write('AGENTS.md', 'x'.repeat(101))
  expect(await files.find([''])).toEqual([{ path: 'AGENTS.md', bytes: 101 }])
})

test('content is returned only with the expected hash', async () => {
  const { files, write } = await place()
  await write('AGENTS.md', 'one')
  const sha256 = (await files.find(['']))[0]?.sha256 ?? ''
  expect((await files.content('AGENTS.md', sha256))?.toString()).toBe('one')
  await write('AGENTS.md', 'two')
  expect(await files.content('AGENTS.md', sha256)).toBeUndefined()
})
