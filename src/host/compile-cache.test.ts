import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { keepCompiledCode } from './compile-cache.ts'

const run = promisify(execFile)
const SOURCE = fileURLToPath(new URL('compile-cache.ts', import.meta.url))

/** Parts of a program, and a folder for their compiled code. */
async function program(parts: Readonly<Record<string, string>>) {
  const root = await freshFolder()
  const [folder, place] = [join(root, 'code'), join(root, 'parts')]
  for (const one of [folder, place]) await mkdir(one)
  for (const [name, text] of Object.entries(parts)) await writeFile(join(place, name), text)
  const script = [
    `import { createRequire } from 'node:module'`,
    `import { loadPartsFrom } from ${JSON.stringify(SOURCE)}`,
    `loadPartsFrom(${JSON.stringify(folder)}, ${JSON.stringify(place)})`,
    `createRequire(${JSON.stringify(place)})('./parts/main.cjs')`,
  ].join('\n')
  const args = ['--import', 'tsx', '--input-type=module', '-e', script]
  return {
    folder,
    place,
    /** What the program prints. */
    start: async () => (await run(process.execPath, args)).stdout,
    code: (name: string) => join(folder, `${name}.code`),
  }
}

const says = (word: string) => `process.stdout.write('${word}')`

test('what a start compiled is kept, and the next start runs it', async () => {
  const parts = { 'main.cjs': `require('./other.cjs').hello()`, 'other.cjs': '' }
  const other = (word: string) => `exports.hello = () => ${says(word)}`
  const one = await program({ ...parts, 'other.cjs': other('one') })
  const two = await program({ ...parts, 'other.cjs': other('two') })
  expect([await one.start(), await two.start()]).toEqual(['one', 'two'])
  expect((await readdir(one.folder)).toSorted()).toEqual(['main.cjs.code', 'other.cjs.code'])
  // V8 compares only the length of the source, so the checksums let us show whose code runs.
  const [own, theirs] = await Promise.all([one, two].map(({ code }) => readFile(code('other.cjs'))))
  if (own === undefined || theirs === undefined) throw new Error('nothing was kept')
  const theirCode = Buffer.concat([own.subarray(0, 4), theirs.subarray(4)])
  await writeFile(one.code('other.cjs'), theirCode)
  expect(await one.start()).toBe('two')
  expect(await readFile(one.code('other.cjs'))).toEqual(theirCode)
})

test('code of another source of the same length is not run, and is replaced', async () => {
  const one = await program({ 'main.cjs': says('one') })
  await one.start()
  const before = await readFile(one.code('main.cjs'))
  await writeFile(join(one.place, 'main.cjs'), says('two'))
  expect(await one.start()).toBe('two')
  expect((await readFile(one.code('main.cjs'))).equals(before)).toBe(false)
  expect(await one.start()).toBe('two')
})

test.each([
  ['a changed byte', (bytes: Buffer) => bytes.fill(bytes[99] === 7 ? 8 : 7, 99, 100)],
  ['half of it', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ['nothing', () => Buffer.alloc(0)],
  ['zeros', (bytes: Buffer) => bytes.fill(0)],
])('compiled code with %s is compiled again', async (_, spoil) => {
  const one = await program({ 'main.cjs': says('one') })
  await one.start()
  const whole = await readFile(one.code('main.cjs'))
  const spoilt = spoil(Buffer.from(whole))
  await writeFile(one.code('main.cjs'), spoilt)
  expect(await one.start()).toBe('one')
  expect((await readFile(one.code('main.cjs'))).equals(spoilt)).toBe(false)
})

test('a part that imports a package, and what is not a part of the program, are loaded by Node', async () => {
  const one = await program({
    'main.cjs': `require('./imports.cjs'); require('../outside.cjs'); ${says('caf\u00e9 ')}`,
    'imports.cjs': `// loaded by Node
      import('./module.mjs').then(({ word }) => process.stdout.write(word))`,
    'module.mjs': `export const word = 'imported'`,
  })
  await writeFile(join(one.place, '..', 'outside.cjs'), says('outside '))
  const said = 'outside caf\u00e9 imported'
  for (let starts = 0; starts < 2; starts += 1) expect(await one.start()).toBe(said)
  expect(await readdir(one.folder)).toEqual(['main.cjs.code'])
})

test('a folder that cannot be written to disturbs nothing', async () => {
  const one = await program({ 'main.cjs': says('one') })
  await rm(one.folder, { recursive: true })
  await writeFile(one.folder, '')
  expect(await one.start()).toBe('one')
})

test('the code of other versions is removed once it is much', async () => {
  const one = await program({ 'main.cjs': says('one') })
  const older = Array.from({ length: 400 }, (_, at) => `part-${at}.cjs`)
  for (const name of older) await writeFile(one.code(name), '')
  await one.start()
  expect(await readdir(one.folder)).toEqual(['main.cjs.code'])
})

async function homeOfMode(mode: number): Promise<string> {
  const home = join(await freshFolder(), 'home')
  await mkdir(home)
  await chmod(home, mode)
  return home
}

test('compiled code is kept in a folder of the home that only its owner can enter', async () => {
  const home = await homeOfMode(0o700)
  keepCompiledCode({ HAWSER_HOME: home })
  const folder = join(home, 'cache', `${process.version}-${process.arch}`)
  for (const one of [join(home, 'cache'), folder])
    expect((await stat(one)).mode & 0o777).toBe(0o700)
})

test('no home is made for compiled code', async () => {
  const parent = await freshFolder()
  keepCompiledCode({ HAWSER_HOME: join(parent, 'none') })
  expect(await readdir(parent)).toEqual([])
})

test('the switch of Node turns it off', async () => {
  const home = await homeOfMode(0o700)
  keepCompiledCode({ HAWSER_HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' })
  expect(await readdir(home)).toEqual([])
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
  const home = await homeOfMode(0o700)
  await spoil(home)
  const all = await readdir(home, { recursive: true })
  keepCompiledCode({ HAWSER_HOME: home })
  expect(await readdir(home, { recursive: true })).toEqual(all)
})
