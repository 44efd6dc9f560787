import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { realFolder } from './real-folder.ts'

test('every spelling of a folder leads to one path', async () => {
  const root = await realpath(await freshFolder())
  await mkdir(join(root, 'a'))
  await symlink(join(root, 'a'), join(root, 'b'))
  for (const path of [join(root, 'a'), `${root}/a/`, `${root}/./b/../a`, join(root, 'b')]) {
    expect(await realFolder(path)).toEqual({ ok: true, value: join(root, 'a') })
  }
})

test('what is not an existing folder is refused', async () => {
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
  for (const [path, kind] of kinds) {
    expect(await realFolder(path)).toMatchObject({ ok: false, error: { kind } })
  }
})
