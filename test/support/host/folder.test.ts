import { readdir, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { freshFolder } from './folder.ts'

test('a fresh folder is empty, unique, and private to its owner', async () => {
  const first = await freshFolder()
  const second = await freshFolder()
  expect(second).not.toBe(first)
  expect(await readdir(first)).toEqual([])
  expect((await stat(first)).mode & 0o777).toBe(0o700)
})
