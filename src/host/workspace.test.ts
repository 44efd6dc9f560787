import { chmod, mkdir, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { systemClock } from './clock.ts'
import { homePath } from './machine.ts'
import { openHome } from './home.ts'
import { systemIds } from './ids.ts'
import { openWorkspace } from './workspace.ts'

const ids = systemIds(systemClock)

async function kindOf(path: string): Promise<string> {
  const opened = await openWorkspace(path, ids)
  if (opened.ok) await opened.value.close()
  return opened.ok ? 'ok' : opened.error.kind
}

test('.hawser is private to the user and ignored by git', async () => {
  const path = await freshFolder()
  expect([await kindOf(path), await kindOf(path)]).toEqual(['ok', 'ok'])
  expect(await readFile(join(path, '.hawser', '.gitignore'), 'utf8')).toBe('*\n')
  for (const name of ['.hawser', '.hawser/sessions', '.hawser/blobs']) {
    expect((await stat(join(path, name))).mode & 0o777).toBe(0o700)
  }
})

test('a `.hawser` that is a link is refused, and nothing is created at its target', async () => {
  const path = await freshFolder()
  const elsewhere = await freshFolder()
  await symlink(elsewhere, join(path, '.hawser'))
  expect(await kindOf(path)).toBe('not_regular_file')
  await expect(stat(join(elsewhere, 'sessions'))).rejects.toThrow('ENOENT')
})

test('a world-writable `.hawser` is refused', async () => {
  const path = await freshFolder()
  await mkdir(join(path, '.hawser'))
  await chmod(join(path, '.hawser'), 0o777)
  expect(await kindOf(path)).toBe('permission_denied')
})

test('a missing workspace is an error that names the path', async () => {
  const opened = await openWorkspace('/nowhere/at/all', ids)
  expect(opened).toMatchObject({ ok: false, error: { kind: 'not_found' } })
})

test('the environment determines the home folder, which is private to the user', async () => {
  const path = join(await freshFolder(), 'home')
  expect(homePath({ HAWSER_HOME: path })).toBe(path)
  expect(homePath({})).toMatch(/\/\.hawser$/)
  const home = await openHome(path)
  expect(home.ok).toBe(true)
  expect((await stat(join(path, 'heads'))).mode & 0o777).toBe(0o700)
  if (home.ok) await home.value.close()
})
