import { existsSync, readdirSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/folder.ts'
import { protectedPlaces } from '../watch/protected-places.ts'
import { mountsOf } from './mounts.ts'
import type { MountScene } from './scene.ts'

async function lines(paths: readonly string[], more: (root: string) => Partial<MountScene>) {
  const root = await freshFolder()
  const workspace = join(root, 'ws')
  await mkdir(join(workspace, '.git/hooks'), { recursive: true })
  await mkdir(join(workspace, '.hawser'))
  await mkdir(join(workspace, 'docs'))
  await mkdir(join(root, 'home'))
  await writeFile(join(workspace, '.git/config'), '')
  await writeFile(join(workspace, 'docs/guide.md'), '')
  await symlink('docs/guide.md', join(workspace, 'CLAUDE.md'))
  const scene: MountScene = {
    workspace,
    writable: 'workspace',
    hawserHome: join(root, 'home'),
    guest: false,
    network: false,
    places: await protectedPlaces(workspace, paths),
    env: {},
    readable: [],
    gitDirectories: [],
    userHomes: [],
    ...more(root),
  }
  const mounts = await mountsOf(scene)
  if (!mounts.ok) return mounts.error.kind
  return mounts.value.mounts
    .filter(({ at }) => at.startsWith(root))
    .map(({ at, as }) => `${as} ${at.slice(root.length)}`)
}

test('protected paths are read-only, and every folder on the way to one is a mount', async () => {
  expect(
    await lines(['.git/config', '.git/hooks', 'CLAUDE.md', '.hawser', 'missing'], () => ({})),
  ).toEqual([
    'writable /ws',
    'writable /ws/.git',
    'writable /ws/.git',
    'writable /ws/docs',
    'readable /ws/.git/config',
    'readable /ws/.git/hooks',
    'readable /ws/docs/guide.md',
    'hidden_folder /ws/.hawser',
  ])
})

test('a fully protected folder has no writable mounts inside', async () => {
  expect(await lines(['.git', '.git/config'], () => ({}))).toEqual([
    'writable /ws',
    'readable /ws/.git',
    'readable /ws/.git/config',
  ])
})

test('when nothing is writable, only hidden paths get their own mounts', async () => {
  expect(await lines(['.git/config', '.hawser'], () => ({ writable: 'nothing' }))).toEqual([
    'readable /ws',
    'hidden_folder /ws/.hawser',
  ])
})

test('a guest keeps access to the .hawser of its workspace', async () => {
  expect(await lines(['.hawser'], () => ({ guest: true }))).toEqual(['writable /ws'])
})

test("keys in the user's homes are hidden, also behind links", async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'secrets'))
  await symlink(join(root, 'secrets'), join(root, '.ssh'))
  await writeFile(join(root, '.netrc'), '')
  const mounts = await mountsOf({
    workspace: root,
    writable: 'workspace',
    hawserHome: join(root, 'nowhere'),
    guest: false,
    network: false,
    places: [],
    env: {},
    readable: [],
    gitDirectories: [],
    userHomes: [root],
  })
  expect(mounts.ok && mounts.value.mounts.filter(({ at }) => at.startsWith(`${root}/`))).toEqual([
    { at: join(root, 'secrets'), as: 'hidden_folder' },
    { at: join(root, '.netrc'), as: 'hidden_file' },
  ])
})

const inRun = (existsSync('/run') ? readdirSync('/run', { withFileTypes: true }) : []).find((one) =>
  one.isDirectory(),
)?.name

test.runIf(inRun !== undefined)('PATH folders below a hidden folder stay visible', async () => {
  const folder = `/run/${inRun}`
  const root = await freshFolder()
  const scene = {
    workspace: root,
    writable: 'nothing' as const,
    hawserHome: '/nowhere',
    guest: false,
    network: false,
    places: [],
    readable: [],
    gitDirectories: [],
    userHomes: [],
  }
  const mounts = await mountsOf({
    ...scene,
    env: { PATH: `/usr/bin:${folder}:/tmp:/run/nowhere` },
  })
  const shown = mounts.ok ? mounts.value.mounts.filter(({ as }) => as === 'readable') : []
  expect(shown.filter(({ at }) => at.startsWith('/run') || at === '/tmp')).toEqual([
    { at: folder, as: 'readable' },
  ])
})
