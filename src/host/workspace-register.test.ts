import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/folder.ts'
import { value } from '../../test/support/story.ts'
import { SessionId } from '../model/ids.ts'
import { systemClock } from './clock.ts'
import { openHome } from './home.ts'
import { systemIds } from './ids.ts'
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
  return { root, home, workspace, register: workspaceRegister(home.own, ids) }
}

test('a Session is found in the workspace that has it, however many are registered at once', async () => {
  const { root, register, workspace, home } = await place()
  const paths = await Promise.all(Array.from({ length: 20 }, (_, at) => workspace(`w${at}`)))
  await Promise.all([...paths, ...paths].map((path) => register.add(path)))
  expect((await readdir(join(root, 'home', 'workspaces'))).length).toBe(20)
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  await writeFile(join(root, 'w7', '.hawser', 'sessions', `${SESSION}.ndjson`), '')
  expect(await register.workspaceOf(SESSION)).toBe(join(root, 'w7'))
  expect((await register.all()).toSorted()).toEqual(paths.toSorted())
  await home.close()
})

test('entries that are damaged, gone or lead through a link are skipped', async () => {
  const { root, register, workspace, home } = await place()
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  const linked = await workspace('linked')
  await writeFile(join(linked, '.hawser', 'sessions', `${SESSION}.ndjson`), '')
  await mkdir(join(root, 'other'))
  await symlink(join(linked, '.hawser'), join(root, 'other', '.hawser'))
  await register.add(join(root, 'other'))
  await register.add(join(root, 'gone'))
  for (const [name, text] of [
    ['0.json', '{'],
    ['1.json', '{"v":2,"path":"/"}'],
    ['2.json', ''],
  ] as const)
    await writeFile(join(root, 'home', 'workspaces', name), text, { mode: 0o600 })
  expect(await register.workspaceOf(SESSION)).toBeUndefined()
  await register.add(linked)
  expect(await register.workspaceOf(SESSION)).toBe(linked)
  await home.close()
})
