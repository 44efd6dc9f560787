import { createHash } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import process from 'node:process'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { value } from '../../../test/support/log/story.ts'
import { openConfined, type ConfinedFiles } from './confined-files.ts'

const hash = (text: string) => ({ sha256: createHash('sha256').update(text).digest('hex') })

async function workspace(): Promise<{ path: string; files: ConfinedFiles }> {
  const path = await freshFolder()
  return { path, files: value(await openConfined(path, { refuse: [join(path, '.hawser')] })) }
}

test('a file is read up to a limit, and truncation is reported', async () => {
  const { path, files } = await workspace()
  await writeFile(join(path, 'ten'), '0123456789')
  for (const [limit, text, truncated] of [
    [9, '012345678', true],
    [10, '0123456789', false],
    [11, '0123456789', false],
    [0, '', true],
  ] as const) {
    const read = value(await files.read('ten', limit))
    expect({ ...read, bytes: read.bytes.toString() }).toEqual({
      path: 'ten',
      bytes: text,
      size: 10,
      truncated,
    })
  }
  await files.close()
})

test('a large file is read completely, across several reads', async () => {
  const { path, files } = await workspace()
  const bytes = Buffer.from(Array.from({ length: 700_001 }, (_, i) => i % 251))
  await writeFile(join(path, 'large'), bytes)
  expect(value(await files.read('large', 1_000_000)).bytes.equals(bytes)).toBe(true)
  expect(value(await files.read('large', 700_000)).bytes.equals(bytes.subarray(0, -1))).toBe(true)
  await files.close()
})

test('a write creates folders, returns the previous content, and leaves nothing else behind', async () => {
  const { path, files } = await workspace()
  const first = await files.write('a/b/c.txt', Buffer.from('one'), { expect: 'absent' })
  expect(value(first)).toEqual({ path: 'a/b/c.txt', previous: undefined })
  const second = await files.write('a/b/c.txt', Buffer.from('two'), { expect: 'anything' })
  expect(value(second).previous?.toString()).toBe('one')
  expect(await readFile(join(path, 'a/b/c.txt'), 'utf8')).toBe('two')
  expect(await readdir(path, { recursive: true })).toEqual(['a', 'a/b', 'a/b/c.txt'])
  await files.close()
})

test('a write that expects other content changes nothing', async () => {
  const { path, files } = await workspace()
  await writeFile(join(path, 'x'), 'now')
  for (const [name, expect_] of [
    ['x', 'absent'],
    ['x', hash('before')],
    ['gone', hash('before')],
  ] as const) {
    const written = await files.write(name, Buffer.from('new'), { expect: expect_ })
    expect(written).toMatchObject({
      error: { kind: 'no_match', details: { reason: 'changed_since' } },
    })
  }
  expect(await files.write('no/x', Buffer.from('new'), { expect: hash('') })).toMatchObject({
    error: { kind: 'not_found' },
  })
  expect(await files.remove('x', { expect: hash('before') })).toMatchObject({
    error: { kind: 'no_match' },
  })
  expect(await readdir(path)).toEqual(['x'])
  expect(await readFile(join(path, 'x'), 'utf8')).toBe('now')
  await files.close()
})

test('a file that changes during a write is left alone', async () => {
  const { path, files } = await workspace()
  await writeFile(join(path, 'x'), 'now')
  const writing = files.write('x', Buffer.alloc(5_000_000), { expect: hash('now') })
  while (readdirSync(path).length === 1) await setImmediate()
  writeFileSync(join(path, 'x'), 'changed by another process')
  expect(await writing).toMatchObject({
    error: { kind: 'no_match', details: { reason: 'changed_since' } },
  })
  expect(await readdir(path)).toEqual(['x'])
  await files.close()
})

test('a file with the expected content is replaced by a new one, or removed', async () => {
  const { path, files } = await workspace()
  await writeFile(join(path, 'x'), 'now')
  const { ino } = await stat(join(path, 'x'))
  value(await files.write('x', Buffer.from('new'), { expect: hash('now') }))
  expect((await stat(join(path, 'x'))).ino).not.toBe(ino)
  expect(value(await files.remove('x', { expect: hash('new') })).previous.toString()).toBe('new')
  expect(value(await files.exists('x'))).toBe(false)
  await files.close()
})

test('mode and owner stay, but set-id bits do not', async () => {
  const { path, files } = await workspace()
  const isRoot = process.geteuid?.() === 0
  await writeFile(join(path, 'x'), 'now')
  if (isRoot) await chown(join(path, 'x'), 65_534, 65_534)
  await chmod(join(path, 'x'), 0o4751)
  const before = await stat(join(path, 'x'))
  value(await files.write('x', Buffer.from('new'), { expect: 'anything' }))
  const after = await stat(join(path, 'x'))
  expect(after.mode & 0o7777).toBe(0o751)
  expect([after.uid, after.gid]).toEqual([before.uid, before.gid])
  value(await files.write('fresh', Buffer.from(''), { expect: 'absent' }))
  expect((await stat(join(path, 'fresh'))).mode & 0o777).toBe(0o644 & ~process.umask())
  await files.close()
})

test('a file too large to return is not replaced', async () => {
  const { path, files } = await workspace()
  await writeFile(join(path, 'large'), Buffer.alloc(10 * 1024 * 1024 + 1))
  expect(await files.write('large', Buffer.from(''), { expect: 'anything' })).toMatchObject({
    error: { kind: 'too_large', details: { limit: 10_485_760, actual: 10_485_761 } },
  })
  await files.close()
})

test('a folder is listed by name, with the kind of each entry', async () => {
  const { path, files } = await workspace()
  await mkdir(join(path, 'b'))
  await writeFile(join(path, 'a'), '')
  await symlink('a', join(path, 'c'))
  expect(value(await files.list('.'))).toEqual([
    { name: 'a', kind: 'file' },
    { name: 'b', kind: 'folder' },
    { name: 'c', kind: 'symlink' },
  ])
  expect(value(await files.list('b'))).toEqual([])
  await files.close()
})

test('the error for a link names its target if that is in the workspace', async () => {
  const { path, files } = await workspace()
  await mkdir(join(path, 'docs'))
  await symlink('../docs/./real.md', join(path, 'docs/link'))
  expect(await files.read('docs/link', 10)).toMatchObject({
    error: { kind: 'not_regular_file', details: { found: 'symlink', leads_to: 'docs/real.md' } },
  })
  await symlink('../../etc/passwd', join(path, 'docs/out'))
  const out = await files.read('docs/out', 10)
  expect(!out.ok && out.error.details).toEqual({ found: 'symlink' })
  await files.close()
})

test('exists returns true or false inside the workspace and an error outside', async () => {
  const { path, files } = await workspace()
  await symlink('nowhere', join(path, 'dangling'))
  expect(value(await files.exists('dangling'))).toBe(true)
  expect(value(await files.exists('a/b/c'))).toBe(false)
  expect(value(await files.exists('.'))).toBe(true)
  expect(await files.exists('../x')).toMatchObject({ error: { kind: 'outside_workspace' } })
  await files.close()
})

test('absolute paths work with both the given and the real path of the workspace', async () => {
  const parent = await freshFolder()
  await mkdir(join(parent, 'real'))
  await symlink('real', join(parent, 'alias'))
  const files = value(await openConfined(join(parent, 'alias'), { refuse: [] }))
  await writeFile(join(parent, 'real/x'), 'here')
  expect(files.root).toBe(join(parent, 'real'))
  for (const path of ['x', join(parent, 'alias/x'), join(parent, 'real/x')]) {
    expect(value(await files.read(path, 10)).path).toBe('x')
  }
  await files.close()
})

test('a workspace that was moved away is no longer touched', async () => {
  const parent = await freshFolder()
  await mkdir(join(parent, 'ws'))
  await writeFile(join(parent, 'ws/x'), 'here')
  const files = value(await openConfined(join(parent, 'ws'), { refuse: [] }))
  await rename(join(parent, 'ws'), join(parent, 'elsewhere'))
  for (const result of [
    await files.read('x', 10),
    await files.write('y', Buffer.from(''), { expect: 'absent' }),
  ]) {
    expect(result).toMatchObject({ error: { kind: 'outside_workspace' } })
  }
  expect(await readdir(join(parent, 'elsewhere'))).toEqual(['x'])
  await files.close()
})

test('a Hawser folder, a file or a missing path is not a workspace', async () => {
  const path = await freshFolder()
  await mkdir(join(path, 'home/inner'), { recursive: true })
  await writeFile(join(path, 'file'), '')
  for (const [root, kind] of [
    ['home', 'protected_path'],
    ['home/inner', 'protected_path'],
    ['file', 'not_regular_file'],
    ['missing', 'not_found'],
  ] as const) {
    const opened = await openConfined(join(path, root), { refuse: [join(path, 'home')] })
    expect(opened).toMatchObject({ error: { kind } })
  }
})

test('isProtected decides by the path text alone', async () => {
  const { files } = await workspace()
  const inside = ['.hawser', '.HAWSER/x', 'a/../.hawser/y', 'a/.hawser', 'a/b/.Hawser./x']
  expect(inside.filter((path) => !files.isProtected(path))).toEqual([])
  const outside = ['.hawsers', 'a/hawser', 'a/.hawser/../b', '../x', '']
  expect(outside.filter((path) => files.isProtected(path))).toEqual([])
  await files.close()
})

test('concurrent calls do not interfere', async () => {
  const { path, files } = await workspace()
  const writes = Array.from({ length: 40 }, (_, i) =>
    files.write(`deep/er/file-${i % 20}`, Buffer.from(`text ${i}`), { expect: 'anything' }),
  )
  const written = (await Promise.all(writes)).filter(({ ok }) => ok).length
  expect(written).toBeGreaterThanOrEqual(20)
  expect((await readdir(join(path, 'deep/er'))).length).toBe(20)
  await files.close()
})
