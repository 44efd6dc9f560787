import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { value } from '../../test/support/log/story.ts'
import { SessionId } from '../model/ids.ts'
import { systemClock } from './clock.ts'
import { identifyFolder } from './files/folder-identity.ts'
import { openHome } from './home.ts'
import { systemIds } from './ids.ts'
import { entryName } from './workspaces/entry.ts'
import { workspaceRegister } from './workspace-register.ts'

const ids = systemIds(systemClock)
const SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

async function place() {
  const root = await freshFolder()
  const home = value(await openHome(join(root, 'home')))
  const workspace = async (name: string) => {
    const sessions = join(root, name, '.hawser', 'sessions')
    await mkdir(sessions, { recursive: true, mode: 0o700 })
    return join(root, name)
  }
  const register = workspaceRegister(home.own, ids)
  const add = async (path: string) => register.add(value(await identifyFolder(path)))
  return { root, home, workspace, register, add }
}

test('a Session is found in the workspace that has it, however many are registered at once', async () => {
  const { root, register, add, workspace, home } = await place()
  const paths = await Promise.all(Array.from({ length: 20 }, (_, at) => workspace(`w${at}`)))
  await Promise.all([...paths, ...paths].map(add))
  expect((await readdir(join(root, 'home', 'workspaces'))).length).toBe(20)
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  await writeFile(join(root, 'w7', '.hawser', 'sessions', `${SESSION}.ndjson`), '')
  expect((await register.workspaceOf(SESSION))?.path).toBe(join(root, 'w7'))
  const all = (await register.all()).map(({ path }) => path)
  expect(all.toSorted()).toEqual(paths.toSorted())
  await home.close()
})

test('entries that are damaged, gone or lead through a link are skipped', async () => {
  const { root, register, add, workspace, home } = await place()
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  const linked = await workspace('linked')
  await writeFile(join(linked, '.hawser', 'sessions', `${SESSION}.ndjson`), '')
  await mkdir(join(root, 'other'))
  await symlink(join(linked, '.hawser'), join(root, 'other', '.hawser'))
  await add(join(root, 'other'))
  await mkdir(join(root, 'gone'))
  await add(join(root, 'gone'))
  await rm(join(root, 'gone'), { recursive: true })
  for (const [name, text] of [
    ['0.json', '{'],
    ['1.json', '{"v":2,"path":"/"}'],
    ['2.json', ''],
  ] as const)
    await writeFile(join(root, 'home', 'workspaces', name), text, { mode: 0o600 })
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  await add(linked)
  expect((await register.workspaceOf(SESSION))?.path).toBe(linked)
  await home.close()
})

test('an entry means its folder: another one at its path is found when it is added itself', async () => {
  const { root, register, add, workspace, home } = await place()
  const path = await workspace('w')
  await add(path)
  await writeFile(join(path, '.hawser', 'sessions', `${SESSION}.ndjson`), '')
  const folder = await register.workspaceOf(SESSION)
  await rename(path, join(root, 'aside'))
  await symlink(join(root, 'aside'), path)
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  expect(await register.all()).toEqual([])
  await rm(path)
  await workspace('w')
  await writeFile(join(path, '.hawser', 'sessions', `${SESSION}.ndjson`), '')
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  await add(path)
  expect(await register.workspaceOf(SESSION)).not.toEqual(folder)
  expect((await readdir(join(root, 'home', 'workspaces'))).length).toBe(1)
  await home.close()
})

test('an entry of an older version is found unless a link is on its path', async () => {
  const { root, register, workspace, home } = await place()
  const path = await workspace('w')
  await writeFile(join(path, '.hawser', 'sessions', `${SESSION}.ndjson`), '')
  await symlink(path, join(root, 'link'))
  await mkdir(join(root, 'home', 'workspaces'), { mode: 0o700 })
  const entry = (at: string) =>
    writeFile(join(root, 'home/workspaces', entryName(at)), JSON.stringify({ v: 1, path: at }), {
      mode: 0o600,
    })
  await entry(join(root, 'link'))
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  await entry(path)
  expect((await register.workspaceOf(SESSION))?.path).toBe(path)
  await home.close()
})
