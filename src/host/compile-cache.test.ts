import { chmod, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises'
import nodeModule from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { keepCompiledCode } from './compile-cache.ts'

/** The folders that Node is asked to use. */
function nodeThatCan(): unknown[] {
  const before: unknown = Reflect.get(nodeModule, 'enableCompileCache')
  const told: unknown[] = []
  Reflect.set(nodeModule, 'enableCompileCache', (folder: unknown) => void told.push(folder))
  onTestFinished(() => {
    if (before === undefined) Reflect.deleteProperty(nodeModule, 'enableCompileCache')
    else Reflect.set(nodeModule, 'enableCompileCache', before)
  })
  return told
}

async function homeOfMode(mode: number): Promise<string> {
  const home = join(await freshFolder(), 'home')
  await mkdir(home)
  await chmod(home, mode)
  return home
}

test('compiled code is kept in a folder of the home that only its owner can enter', async () => {
  const told = nodeThatCan()
  const home = await homeOfMode(0o700)
  keepCompiledCode({ HAWSER_HOME: home })
  keepCompiledCode({ HAWSER_HOME: home })
  const folder = join(home, 'cache')
  expect(told).toEqual([folder, folder])
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
})

test('no home is made for compiled code', async () => {
  const told = nodeThatCan()
  const parent = await freshFolder()
  keepCompiledCode({ HAWSER_HOME: join(parent, 'none') })
  expect([told, await readdir(parent)]).toEqual([[], []])
})

test.each([
  ['a home that others can write to', async (home: string) => chmod(home, 0o777)],
  [
    'a cache that others can write to',
    async (home: string) => {
      await mkdir(join(home, 'cache'))
      await chmod(join(home, 'cache'), 0o770)
    },
  ],
  [
    'a link',
    async (home: string) => {
      await mkdir(join(home, 'elsewhere'))
      await symlink(join(home, 'elsewhere'), join(home, 'cache'))
    },
  ],
])('no code is kept in %s', async (_name, spoil) => {
  const told = nodeThatCan()
  const home = await homeOfMode(0o700)
  await spoil(home)
  keepCompiledCode({ HAWSER_HOME: home })
  await rm(home, { recursive: true })
  expect(told).toEqual([])
})

test('a Node that cannot keep compiled code runs without', async () => {
  const before: unknown = Reflect.get(nodeModule, 'enableCompileCache')
  Reflect.deleteProperty(nodeModule, 'enableCompileCache')
  onTestFinished(() => {
    if (before !== undefined) Reflect.set(nodeModule, 'enableCompileCache', before)
  })
  const home = await homeOfMode(0o700)
  keepCompiledCode({ HAWSER_HOME: home })
  expect(await readdir(home)).toEqual([])
})
