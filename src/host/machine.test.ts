import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { openHome } from './home.ts'
import { commandShell, homePath, operatingSystem, pathFacts, userHome } from './machine.ts'

const HOME = process.env['HOME']
const PATH = process.env['PATH']
afterEach(() => {
  if (HOME === undefined) delete process.env['HOME']
  else process.env['HOME'] = HOME
  process.env['PATH'] = PATH
})

test('pathFacts describes any path and never throws', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'folder'))
  await chmod(join(root, 'folder'), 0o750)
  await writeFile(join(root, 'file'), '')
  await symlink('loop', join(root, 'loop'))
  expect(await pathFacts(join(root, 'folder'))).toEqual({
    kind: 'folder',
    ours: true,
    mode: 0o750,
    writable: true,
    freeBytes: expect.any(Number),
  })
  expect(await pathFacts(join(root, 'file'))).toEqual({ kind: 'not_folder' })
  expect(await pathFacts(join(root, 'absent'))).toEqual({ kind: 'missing' })
  expect(await pathFacts('')).toEqual({ kind: 'missing' })
  expect(await pathFacts(join(root, 'loop'))).toEqual({ kind: 'unreadable', code: 'ELOOP' })
  expect(await pathFacts(join(root, 'file', 'x'))).toEqual({ kind: 'unreadable', code: 'ENOTDIR' })
})

test.each(['', 'relative', './x'])('"%s" is not accepted as a home', async (home) => {
  process.env['HOME'] = home
  expect(userHome()).toBeUndefined()
  expect(homePath({})).toBe('')
  expect(await openHome(homePath({}))).toMatchObject({ error: { kind: 'invalid_args' } })
})

test('the home is that of the system, unless the environment overrides it', () => {
  process.env['HOME'] = '/somewhere'
  expect(userHome()).toBe('/somewhere')
  expect(homePath({})).toBe('/somewhere/.hawser')
  expect(homePath({ HAWSER_HOME: '' })).toBe('/somewhere/.hawser')
  expect(homePath({ HAWSER_HOME: '/elsewhere' })).toBe('/elsewhere')
})

test('the system is named with its processor, and the shell is one that commands find', async () => {
  expect(operatingSystem()).toMatch(/^(?:Linux|macOS|Windows) \w+$/)
  expect(['bash', 'sh']).toContain(await commandShell())
  process.env['PATH'] = 'relative:/nowhere'
  expect(['bash', 'sh']).toContain(await commandShell())
})
