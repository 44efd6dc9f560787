import { lstat, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { takeNamedPipe } from './named-pipes.ts'

test('each pipe is handed out once, and all are in one folder that only its user can enter', async () => {
  const paths: string[] = []
  for (let at = 0; at < 40; at++) paths.push(await takeNamedPipe())
  expect(new Set(paths).size).toBe(40)
  expect(new Set(paths.map((path) => dirname(path))).size).toBe(1)
  expect((await lstat(dirname(paths[0] ?? ''))).mode & 0o777).toBe(0o700)
  for (const path of paths) expect((await lstat(path)).isFIFO()).toBe(true)
})

test('pipes that were deleted meanwhile are replaced, also with their folder', async () => {
  const folder = dirname(await takeNamedPipe())
  await rm(folder, { recursive: true })
  const path = await takeNamedPipe()
  expect((await lstat(path)).isFIFO()).toBe(true)
  expect(dirname(path)).not.toBe(folder)
})
