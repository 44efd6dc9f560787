import { execFileSync } from 'node:child_process'
import { chmod, chown, link, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { diskFolder } from './disk.ts'
import { asResult, replaceFile, writeAll } from './files.ts'
import { ok } from '../../model/errors.ts'

/** The error kind of opening `name`, or `ok`. */
async function kindOfOpening(path: string, name: string, what: 'file' | 'folder'): Promise<string> {
  const root = await diskFolder(path)
  const result = await asResult('open it', async () => {
    const opened = what === 'file' ? await root.open(name, 'read') : await root.folder(name, 'open')
    await opened.close()
    return ok(undefined)
  })
  await root.close()
  return result.ok ? 'ok' : result.error.kind
}

test('opening a file follows no link and never blocks on a pipe', async () => {
  const path = await freshFolder()
  await writeFile(join(path, 'plain'), 'x')
  await symlink(join(path, 'plain'), join(path, 'link'))
  await mkdir(join(path, 'folder'))
  execFileSync('mkfifo', [join(path, 'pipe')])
  const kinds = await Promise.all(
    ['plain', 'link', 'folder', 'pipe', 'absent'].map((name) => kindOfOpening(path, name, 'file')),
  )
  expect(kinds).toEqual([
    'ok',
    'not_regular_file',
    'not_regular_file',
    'not_regular_file',
    'not_found',
  ])
})

test('a folder that is a link or writable by others is refused', async () => {
  const path = await freshFolder()
  await mkdir(join(path, 'mine'), { mode: 0o700 })
  await mkdir(join(path, 'open'))
  await chmod(join(path, 'open'), 0o777)
  await symlink(join(path, 'mine'), join(path, 'link'))
  const kinds = await Promise.all(
    ['mine', 'open', 'link'].map((name) => kindOfOpening(path, name, 'folder')),
  )
  expect(kinds).toEqual(['ok', 'permission_denied', 'not_regular_file'])
})

test.runIf(process.getuid?.() === 0)('a folder of another user is refused', async () => {
  const path = await freshFolder()
  await mkdir(join(path, 'theirs'), { mode: 0o700 })
  await chown(join(path, 'theirs'), 65_534, 65_534)
  expect(await kindOfOpening(path, 'theirs', 'folder')).toBe('permission_denied')
})

test('a folder that others can read is made private', async () => {
  const path = await freshFolder()
  await mkdir(join(path, 'shown'))
  await chmod(join(path, 'shown'), 0o755)
  expect(await kindOfOpening(path, 'shown', 'folder')).toBe('ok')
  expect((await stat(join(path, 'shown'))).mode & 0o777).toBe(0o700)
})

test('a name of more than one segment throws', async () => {
  const root = await diskFolder(await freshFolder())
  for (const name of ['', '.', '..', 'a/b', '../x', 'a\0b']) {
    await expect(root.open(name, 'create')).rejects.toThrow('one segment')
  }
  await root.close()
})

test('files opened through a folder stay in it when its path is replaced', async () => {
  const path = await freshFolder()
  await mkdir(join(path, 'one'), { mode: 0o700 })
  await mkdir(join(path, 'elsewhere'), { mode: 0o700 })
  const root = await diskFolder(path)
  const one = await root.folder('one', 'open')
  await root.rename('one', 'moved')
  await symlink(join(path, 'elsewhere'), join(path, 'one'))
  const file = await one.open('note', 'create')
  await writeAll(file, Buffer.from('here'))
  await file.close()
  expect(await readFile(join(path, 'moved', 'note'), 'utf8')).toBe('here')
  await one.close()
  await root.close()
})

test('new files are private, and two names of one file count as two links', async () => {
  const path = await freshFolder()
  const root = await diskFolder(path)
  const file = await root.open('note', 'create')
  expect((await stat(join(path, 'note'))).mode & 0o777).toBe(0o600)
  await link(join(path, 'note'), join(path, 'again'))
  expect((await file.stat()).links).toBe(2)
  await root.remove('note')
  await root.remove('again')
  expect((await file.stat()).links).toBe(0)
  await file.close()
  await root.close()
})

test('a lock excludes every other open descriptor, also in this process, until it is closed', async () => {
  const root = await diskFolder(await freshFolder())
  const first = await root.open('lease', 'lease')
  const second = await root.open('lease', 'lease')
  expect([await first.tryLock(), await second.tryLock()]).toEqual([true, false])
  await first.close()
  expect(await second.tryLock()).toBe(true)
  await second.close()
  await root.close()
})

test('a replaced file has its complete new content, and a failed replacement leaves no trace', async () => {
  const path = await freshFolder()
  const root = await diskFolder(path)
  await replaceFile(root, 'state', Buffer.from('old'), '.tmp-1')
  await replaceFile(root, 'state', Buffer.from('new'), '.tmp-2')
  expect(await readFile(join(path, 'state'), 'utf8')).toBe('new')
  await mkdir(join(path, 'taken'))
  await expect(replaceFile(root, 'taken', Buffer.from('x'), '.tmp-3')).rejects.toThrow()
  expect((await root.names()).toSorted()).toEqual(['state', 'taken'])
  await root.close()
})

test('a watch reports changes', async () => {
  const root = await diskFolder(await freshFolder())
  const file = await root.open('log', 'create')
  let ring = (_size: Promise<number>) => {}
  const reported = new Promise<number>((resolve) => {
    ring = resolve
  })
  const watch = await root.watch('log', () => ring(file.stat().then(({ size }) => size)))
  await file.write(Buffer.from('x'))
  expect(await reported).toBe(1)
  watch.close()
  await file.close()
  await root.close()
})
