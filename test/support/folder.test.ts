import { readdir, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { freshFolder } from './folder.ts'

test('a fresh folder is empty, new each time, and open to its owner only', async () => {
  const first = await freshFolder()
  const second = await freshFolder()
  expect(second).not.toBe(first)
  expect(await readdir(first)).toEqual([])
  expect((await stat(first)).mode & 0o777).toBe(0o700)
})
