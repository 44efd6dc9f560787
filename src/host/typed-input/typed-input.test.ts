import { appendFile, mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { systemClock } from '../clock.ts'
import { diskFolder } from '../files/disk.ts'
import { systemIds } from '../ids.ts'
import { inputDrafts } from './drafts.ts'
import { inputHistory } from './history.ts'
import type { InputPlace } from './place.ts'

async function place(
  workspace = '/folder/a',
  root?: string,
): Promise<InputPlace & { root: string }> {
  const folder = root ?? join(await freshFolder(), 'home')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const home = await diskFolder(folder)
  return { home, ids: systemIds(systemClock), clock: systemClock, workspace, root: folder }
}

test('the history of a workspace has each text once, the latest last', async () => {
  const here = await place()
  for (const text of ['one', 'two', 'one', '  ', 'three\nlines']) await inputHistory(here).add(text)
  const again = await place('/folder/a', here.root)
  expect(await inputHistory(again).read()).toEqual(['two', 'one', 'three\nlines'])
  expect(await inputHistory(await place('/folder/b', here.root)).read()).toEqual([])
})

test('only the person can read it', async () => {
  const here = await place()
  await inputHistory(here).add('one')
  const [name = ''] = await readdir(join(here.root, 'input'))
  const folder = join(here.root, 'input', name)
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, 'history.ndjson'))).mode & 0o777).toBe(0o600)
})

test('a line that a crash cut off costs that line only', async () => {
  const here = await place()
  await inputHistory(here).add('one')
  const [name = ''] = await readdir(join(here.root, 'input'))
  await appendFile(join(here.root, 'input', name, 'history.ndjson'), '{"v":1,"te')
  await inputHistory(here).add('two')
  expect(await inputHistory(here).read()).toEqual(['one', 'two'])
})

test('the file stays bounded, and the latest texts stay in it', async () => {
  const here = await place()
  const text = (at: number) => `${at} ${'x'.repeat(15_000)}`
  for (let at = 0; at < 80; at += 1) await inputHistory(here).add(text(at))
  const [name = ''] = await readdir(join(here.root, 'input'))
  const { size } = await stat(join(here.root, 'input', name, 'history.ndjson'))
  expect(size).toBeLessThan(1.1 * 1024 * 1024)
  expect((await inputHistory(here).read()).at(-1)).toBe(text(79))
})

test('a draft is read back as it was written, until it is removed', async () => {
  const here = await place()
  const draft = {
    v: 1,
    text: 'half a \u{10f000}',
    cursor: 3,
    chips: [['\u{10f000}', 'a\nb']],
    queue: ['first', 'second'],
  } as const
  const drafts = inputDrafts(here)
  expect(await drafts.read('new')).toBeUndefined()
  await drafts.write('new', { ...draft, chips: [['\u{10f000}', 'a\nb']], queue: [...draft.queue] })
  expect(await inputDrafts(await place('/folder/a', here.root)).read('new')).toEqual(draft)
  await drafts.remove('new')
  await drafts.remove('new')
  expect(await drafts.read('new')).toBeUndefined()
})
