import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { value } from '../../../test/support/log/story.ts'
import { diskFolder } from '../files/disk.ts'
import { removeLeftovers } from './leftover-files.ts'

const NOW = 1_800_000_000
const PLACES = [
  '.',
  'heads',
  'cache',
  'instances',
  'instances/ins_1',
  'instances/ins_1/heads/abc',
  'instances/ins_1/home',
  'instances/ins_1/home/heads',
  'instances/ins_1/home/cache',
]

async function file(path: string, age: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, 'x')
  await utimes(path, NOW - age, NOW - age)
}

test('temporary files of killed processes are removed in a home and in those of guests', async () => {
  const root = await freshFolder()
  for (const place of PLACES) {
    await file(join(root, place, '.tmp-old'), 1_000)
    await file(join(root, place, '.tmp-new'), 10)
    await file(join(root, place, 'kept'), 1_000)
  }
  // What a guest may do to its home.
  const guest = join(root, 'instances/ins_2/home')
  await file(join(root, 'elsewhere/.tmp-old'), 1_000)
  await mkdir(guest, { recursive: true, mode: 0o700 })
  await symlink(join(root, 'elsewhere'), join(guest, 'heads'))
  await symlink(join(root, 'elsewhere/.tmp-old'), join(guest, '.tmp-link'))
  const home = await diskFolder(root)
  onTestFinished(() => home.close())
  expect(value(await removeLeftovers(home, (NOW - 100) * 1000))).toBe(PLACES.length)
  for (const place of PLACES) {
    const names = await readdir(join(root, place))
    expect(names).toEqual(expect.arrayContaining(['.tmp-new', 'kept']))
    expect(names).not.toContain('.tmp-old')
  }
  expect(await readdir(join(root, 'elsewhere'))).toEqual(['.tmp-old'])
  expect(value(await removeLeftovers(home, (NOW - 100) * 1000))).toBe(0)
})
