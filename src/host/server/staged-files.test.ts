import { readdir, readFile, utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { systemClock } from '../clock.ts'
import { diskFolder } from '../files/disk.ts'
import { stagedFiles } from './staged-files.ts'

async function opened(mostBytes?: number) {
  const path = await freshFolder()
  const folder = await diskFolder(path)
  const staged = await stagedFiles(folder, systemClock, mostBytes)
  onTestFinished(async () => {
    await staged.close()
    await folder.close()
  })
  return { path, staged }
}

async function* pieces(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text)
}

async function filesBelow(path: string): Promise<string[]> {
  const all = await readdir(join(path, 'staged'), { recursive: true, withFileTypes: true })
  return all.filter((entry) => entry.isFile()).map(({ name }) => name)
}

test('an upload keeps its name, also if others have the same one', async () => {
  const { staged, path } = await opened()
  const first = await staged.add('a.txt', pieces('on', 'e'), 10)
  const second = await staged.add('a.txt', pieces('two'), 10)
  if (!first.ok || !second.ok) throw new Error('refused')
  const paths = [first.value.path, second.value.path]
  expect([paths.map((one) => basename(one)), new Set(paths).size]).toEqual([['a.txt', 'a.txt'], 2])
  expect(paths.every((one) => one.startsWith(join(path, 'staged')))).toBe(true)
  expect(await Promise.all(paths.map((one) => readFile(one, 'utf8')))).toEqual(['one', 'two'])
  expect(first.value.size).toBe(3)
})

test('an upload of exactly the limit is kept; a larger or broken one leaves nothing', async () => {
  const { staged, path } = await opened()
  async function* broken() {
    yield Buffer.from('half')
    throw new Error('disconnected')
  }
  expect(await staged.add('large.txt', pieces('12345', '678901'), 10)).toMatchObject({
    ok: false,
    error: { kind: 'too_large' },
  })
  await expect(staged.add('broken.txt', broken(), 10)).rejects.toThrow('disconnected')
  expect(await staged.add('exact.txt', pieces('1234567890'), 10)).toMatchObject({ ok: true })
  expect(await filesBelow(path)).toEqual(['exact.txt'])
})

test('a stream above the limit is not read to its end', async () => {
  const { staged } = await opened()
  let taken = 0
  async function* endless() {
    for (;;) {
      taken += 1
      yield Buffer.alloc(1000)
    }
  }
  await staged.add('large.txt', endless(), 2500)
  expect(taken).toBe(3)
})

test('uploads expire after seven days', async () => {
  const { staged, path } = await opened()
  const [old, recent] = [
    await staged.add('old', pieces('x'), 1),
    await staged.add('b', pieces(), 1),
  ]
  if (!old.ok || !recent.ok) throw new Error('refused')
  const week = 7 * 24 * 60 * 60
  const now = Date.now() / 1000
  await utimes(old.value.path, now, now - week - 60)
  await utimes(recent.value.path, now, now - week + 600)
  expect(await staged.removeExpired()).toEqual({ ok: true, value: 1 })
  expect(await filesBelow(path)).toEqual(['b'])
})

test('all uploads together are limited, also after a restart, until some expire', async () => {
  const { staged, path } = await opened(8)
  const refusal = { ok: false, error: { kind: 'budget_exceeded' } }
  const first = await staged.add('a', pieces('123456'), 10)
  expect(await staged.add('b', pieces('12', '3'), 10)).toMatchObject(refusal)
  const folder = await diskFolder(path)
  const restarted = await stagedFiles(folder, systemClock, 8)
  expect(await restarted.add('b', pieces('123'), 10)).toMatchObject(refusal)
  // What was refused does not count.
  expect(await restarted.add('c', pieces('12'), 10)).toMatchObject({ ok: true })
  await utimes(first.ok ? first.value.path : '', 0, 0)
  await restarted.removeExpired()
  const added = await restarted.add('b', pieces('123'), 10)
  expect(added.ok && dirname(added.value.path)).toBe(join(path, 'staged', '0'))
  await restarted.close()
  await folder.close()
})

test('uploads at the same time cannot exceed the limit together', async () => {
  const { staged, path } = await opened(10)
  const results = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => staged.add(name, pieces('12', '34'), 4)),
  )
  const kept = results.filter((one) => one.ok)
  expect(kept.length).toBeLessThanOrEqual(2)
  expect((await filesBelow(path)).length).toBe(kept.length)
})
