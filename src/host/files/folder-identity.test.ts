import { mkdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { value } from '../../../test/support/log/story.ts'
import { folderAt } from './disk.ts'
import { closing } from './files.ts'
import { atFolder, checkFolder, identifyFolder } from './folder-identity.ts'

async function scene() {
  const root = await realpath(await freshFolder())
  const path = join(root, 'a/b/c')
  await mkdir(path, { recursive: true })
  return { root, path, identity: value(await identifyFolder(path)) }
}

test('every spelling of a folder has one identity', async () => {
  const { root, path, identity } = await scene()
  await symlink(join(root, 'a'), join(root, 'link'))
  expect(identity).toMatchObject({ path, ino: expect.stringMatching(/^\d+$/) })
  for (const spelling of [`${path}/`, `${root}/./a/../a/b/c`, join(root, 'link/b/c')])
    expect(await identifyFolder(spelling)).toEqual({ ok: true, value: identity })
})

test('what is not an existing folder has none', async () => {
  const root = await freshFolder()
  await writeFile(join(root, 'file'), '')
  await symlink(join(root, 'loop'), join(root, 'loop'))
  const kinds: [string, string][] = [
    ['relative', 'invalid_args'],
    ['', 'invalid_args'],
    [`${root}\0`, 'invalid_args'],
    [join(root, 'missing'), 'not_found'],
    [join(root, 'n'.repeat(300)), 'not_found'],
    [join(root, 'file'), 'not_regular_file'],
    [join(root, 'file', 'below'), 'not_regular_file'],
    [join(root, 'loop'), 'not_regular_file'],
  ]
  for (const [path, kind] of kinds)
    expect(await identifyFolder(path)).toMatchObject({ ok: false, error: { kind } })
})

test('a recorded folder is opened although its contents changed, and is refused when it was created again', async () => {
  const { path, identity } = await scene()
  await writeFile(join(path, 'file'), '')
  expect(await checkFolder(identity)).toEqual({ ok: true, value: identity })
  await rm(path, { recursive: true })
  expect(await checkFolder(identity)).toMatchObject({ error: { kind: 'not_found' } })
  // ext4 gives it the same inode.
  await mkdir(path)
  expect(await checkFolder(identity)).toMatchObject({ error: { kind: 'outside_workspace' } })
})

test('a path to a recorded folder leads to it, wherever it is moved meanwhile', async () => {
  const { root, path, identity } = await scene()
  await atFolder(identity, async (at) => {
    await rename(dirname(path), join(root, 'elsewhere'))
    await mkdir(path, { recursive: true })
    await writeFile(join(at, 'mark'), '')
  })
  expect(await closing(await folderAt(join(root, 'elsewhere/c')), (one) => one.names())).toEqual([
    'mark',
  ])
  await expect(folderAt(identity)).rejects.toMatchObject({ code: 'OTHER_FOLDER' })
})

test('after another boot the device may differ, and nothing else', async () => {
  const { identity } = await scene()
  const later = { ...identity, boot: 'another' }
  const cases: [object, boolean][] = [
    [{ ...later, dev: '1' }, true],
    [{ ...identity, dev: '1' }, false],
    [{ ...later, dev: '1', ino: '1' }, false],
    [{ ...later, dev: '1', born: '1' }, identity.born === undefined],
  ]
  for (const [recorded, isSame] of cases)
    expect((await checkFolder({ ...identity, ...recorded })).ok).toBe(isSame)
})
