import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { value } from '../../../test/support/log/story.ts'
import { systemClock } from '../clock.ts'
import { identifyFolder } from '../files/folder-identity.ts'
import { openHome } from '../home.ts'
import { systemIds } from '../ids.ts'
import { workspaceRegister } from '../workspace-register.ts'
import { hasContents, originOf } from './origin.ts'

const SESSION = 'ses_01kg8m2q3r4s5t6v7w8x9y0z12'

async function place() {
  const root = await freshFolder()
  const [workspace, home] = [join(root, 'ws'), join(root, 'home')]
  const folders = value(await openHome(home))
  mkdirSync(workspace)
  const register = workspaceRegister(folders.own, systemIds(systemClock))
  const add = async (path: string) => register.add(value(await identifyFolder(path)))
  const create = () => mkdirSync(join(workspace, '.hawser', 'sessions'), { recursive: true })
  const entry = async () => {
    const [name = ''] = await readdir(join(home, 'workspaces'))
    return join(home, 'workspaces', name)
  }
  const origin = () => originOf(workspace, home)
  const close = async () => {
    await folders.close()
    // The tests verify every Log and head that they leave.
    await rm(root, { recursive: true })
  }
  return { root, workspace, home, register, add, create, entry, origin, close }
}

test('a folder that is registered before its `.hawser` is created is ours', async () => {
  const { workspace, add, create, origin, close } = await place()
  expect(origin()).toEqual({ origin: 'none', isRegistered: false })
  expect(await add(workspace)).toBe('none')
  create()
  expect(origin()).toEqual({ origin: 'created', isRegistered: true })
  expect(await add(workspace)).toBe('created')
  await close()
})

test('a `.hawser` that was there before is adopted, and stays adopted', async () => {
  const { workspace, register, add, create, origin, close } = await place()
  create()
  expect(origin()).toEqual({ origin: 'unknown', isRegistered: false })
  expect(hasContents(workspace)).toBe(false)
  writeFileSync(join(workspace, '.hawser', 'config.json'), '{}')
  expect(hasContents(workspace)).toBe(true)
  expect(await register.all()).toEqual([])
  expect(await add(workspace)).toBe('unknown')
  expect(await add(workspace)).toBe('adopted')
  expect(origin()).toEqual({ origin: 'adopted', isRegistered: true })
  expect((await register.all()).map(({ path }) => path)).toEqual([workspace])
  await close()
})

test('an entry that is older than the `.hawser` at its path proves nothing', async () => {
  const { workspace, register, add, create, entry, origin, close } = await place()
  await add(workspace)
  create()
  // A file system that does not record when a folder was created reports 0.
  if (statSync(join(workspace, '.hawser')).birthtimeMs > 0) {
    utimesSync(await entry(), 0, 0)
    expect(origin()).toEqual({ origin: 'unknown', isRegistered: false })
    expect(await register.all()).toEqual([])
  }
  await close()
})

test('a path through a link leads to the same entry', async () => {
  const { root, workspace, home, add, create, close } = await place()
  symlinkSync(workspace, join(root, 'link'))
  await add(join(root, 'link'))
  create()
  for (const path of [workspace, join(root, 'link')])
    expect(originOf(path, home).origin).toBe('created')
  await close()
})

/** A Log of these lines, with a head for the line at `at`. */
function writeLog(workspace: string, home: string, lines: readonly string[], at: number): void {
  const covered = lines.slice(0, at + 1).map((line) => `${line}\n`)
  const hash = createHash('sha256')
    .update(lines[at] ?? '')
    .digest('hex')
  const head = { seq: at, hash, offset: Buffer.byteLength(covered.join('')) }
  writeFileSync(join(home, 'heads', SESSION), JSON.stringify(head))
  const log = lines.map((line) => `${line}\n`).join('')
  writeFileSync(join(workspace, '.hawser/sessions', `${SESSION}.ndjson`), log)
}

test.each([0, 1, 2])('a head that matches line %i of a Log proves the origin', async (at) => {
  const { workspace, home, create, origin, close } = await place()
  create()
  writeLog(workspace, home, ['{"one":1}', `{"two":"${'é'.repeat(99_999)}"}`, '{"three":3}'], at)
  expect(origin()).toEqual({ origin: 'created', isRegistered: false })
  await close()
})

test('a head that does not match proves nothing', async () => {
  const { workspace, home, create, origin, close } = await place()
  const log = join(workspace, '.hawser/sessions', `${SESSION}.ndjson`)
  const head = join(home, 'heads', SESSION)
  create()
  const cases: Readonly<Record<string, () => void>> = {
    'another line': () => writeFileSync(log, '{"one":2}\n'),
    'a shorter Log': () => writeFileSync(log, '{"o'),
    'no Log': () => writeFileSync(log, ''),
    'an empty head': () => writeFileSync(head, '{"seq":-1,"hash":null,"offset":0}'),
    'a broken head': () => writeFileSync(head, '{'),
    'a huge offset': () => writeFileSync(head, '{"hash":"a","offset":9007199254740991}'),
    'a fraction': () => writeFileSync(head, '{"hash":"a","offset":0.5}'),
  }
  for (const [name, damage] of Object.entries(cases)) {
    writeLog(workspace, home, ['{"one":1}'], 0)
    damage()
    expect([name, origin().origin]).toEqual([name, 'unknown'])
  }
  writeLog(workspace, home, ['{"one":1}'], 0)
  await rm(log)
  writeFileSync(join(home, 'copy'), '{"one":1}\n')
  symlinkSync(join(home, 'copy'), log)
  expect(origin().origin).toBe('unknown')
  await close()
})

test('a link or a file in place of `.hawser` is never ours, and a missing home knows nothing', async () => {
  const { root, workspace, home, add, close } = await place()
  await add(workspace)
  writeFileSync(join(workspace, '.hawser'), '')
  expect(originOf(workspace, home).origin).toBe('unknown')
  await rm(join(workspace, '.hawser'))
  mkdirSync(join(root, 'elsewhere'))
  chmodSync(join(root, 'elsewhere'), 0o700)
  symlinkSync(join(root, 'elsewhere'), join(workspace, '.hawser'))
  expect(originOf(workspace, home).origin).toBe('unknown')
  expect(originOf(workspace, '').origin).toBe('unknown')
  expect(originOf(workspace, '/nowhere/at/all').origin).toBe('unknown')
  await close()
})
