import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { value } from '../../../test/support/log/story.ts'
import { bufferedFiles } from './buffered-files.ts'
import { openConfined } from './confined-files.ts'

async function place(open: Record<string, string>, { writes = true } = {}) {
  const root = join(await freshFolder(), 'workspace')
  await mkdir(root)
  const disk = value(await openConfined(root, { refuse: [join(root, '.hawser')] }))
  onTestFinished(() => disk.close())
  const buffers = new Map(Object.entries(open).map(([name, text]) => [join(disk.root, name), text]))
  const asked: string[] = []
  const write = async (path: string, text: string) => {
    buffers.set(path, text)
    return true
  }
  const files = bufferedFiles(disk, {
    read: async (path) => {
      asked.push(path)
      return buffers.get(path)
    },
    write: writes ? write : undefined,
  })
  const textOf = async (path: string) => value(await files.read(path, 100)).bytes.toString()
  return { root, files, buffers, asked, textOf }
}

const ANY = { expect: 'anything' } as const

test('a file with unsaved changes is read and changed in the editor, and its disk stays', async () => {
  const { root, files, buffers, textOf } = await place({ 'a.txt': 'typed\n' })
  await writeFile(join(root, 'a.txt'), 'saved\n')
  expect(await textOf('a.txt')).toBe('typed\n')
  const stale = { expect: { sha256: '0'.repeat(64) } }
  expect(await files.write('a.txt', Buffer.from('x'), stale)).toMatchObject({
    error: { kind: 'no_match' },
  })
  const written = value(await files.write('a.txt', Buffer.from('ours\n'), ANY))
  expect(written.previous?.toString()).toBe('typed\n')
  expect([...buffers.values()]).toEqual(['ours\n'])
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('saved\n')
  expect(await files.remove('a.txt', ANY)).toMatchObject({ error: { kind: 'no_match' } })
})

test('a saved file, one that is not open, and a new one are written on disk', async () => {
  const { root, files, buffers } = await place({ 'a.txt': 'one\ntwo\n' })
  await writeFile(join(root, 'a.txt'), '\uFEFFone\r\ntwo\r\n')
  await writeFile(join(root, 'b.txt'), 'b')
  for (const name of ['a.txt', 'b.txt', 'c.txt'])
    value(await files.write(name, Buffer.from('ours'), ANY))
  const onDisk = ['a.txt', 'b.txt', 'c.txt'].map((name) => readFile(join(root, name), 'utf8'))
  expect(await Promise.all(onDisk)).toEqual(['ours', 'ours', 'ours'])
  expect([...buffers.values()]).toEqual(['one\ntwo\n'])
})

test('an editor that only shows its files keeps unsaved changes', async () => {
  const { root, files } = await place({ 'a.txt': 'typed' }, { writes: false })
  await writeFile(join(root, 'a.txt'), 'saved')
  expect(await files.write('a.txt', Buffer.from('ours'), ANY)).toMatchObject({
    error: { kind: 'no_match' },
  })
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('saved')
})

test('an editor is never asked for a file that the workspace refuses', async () => {
  const { root, files, asked } = await place({})
  await mkdir(join(root, '.hawser'))
  await writeFile(join(root, '.hawser', 'a'), 'a')
  for (const path of ['/etc/hosts', '../a', '.hawser/a'])
    expect((await files.read(path, 100)).ok).toBe(false)
  expect(asked).toEqual([])
})
