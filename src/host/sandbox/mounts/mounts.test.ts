import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
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
    .map(({ at, as, from }) => {
      const source = from?.startsWith(root) === true ? ` from ${from.slice(root.length)}` : ''
      return `${as} ${at.slice(root.length)}${source}`
    })
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

test('a nested .hawser is hidden and held in place, for guests and without write access too', async () => {
  const nested = (root: string) => {
    mkdirSync(join(root, 'ws/a/b/.hawser'), { recursive: true })
    const facts = { kind: 'folder', id: '', target: undefined, stamp: '' } as const
    return { places: [{ path: 'a/b/.hawser', ...facts }] }
  }
  const held = [
    'writable /ws',
    'writable /ws/a',
    'writable /ws/a/b',
    'hidden_folder /ws/a/b/.hawser',
  ]
  expect(await lines([], nested)).toEqual(held)
  expect(await lines([], (root) => ({ ...nested(root), guest: true }))).toEqual(held)
  expect(await lines([], (root) => ({ ...nested(root), writable: 'nothing' }))).toEqual([
    'readable /ws',
    'hidden_folder /ws/a/b/.hawser',
  ])
})

test('a nested .hawser that is a link is refused', async () => {
  const facts = { kind: 'symlink', id: '', target: '/etc', stamp: '' } as const
  const places = [{ path: 'a/.hawser', ...facts }]
  expect(await lines([], () => ({ places }))).toBe('protected_path')
})

test('the .hawser of a registered workspace is hidden wherever it is shown', async () => {
  const shown = await lines([], (root) => {
    for (const path of ['other/.hawser', 'hidden/.hawser', 'ws/pkg/.hawser'])
      mkdirSync(join(root, path), { recursive: true })
    const otherWorkspaces = ['other', 'hidden', 'ws/pkg'].map((path) => join(root, path))
    // Shown like any folder outside; the folders of tests may be where no other one is shown.
    return { otherWorkspaces, gitDirectories: [join(root, 'other')] }
  })
  expect(shown).toEqual([
    'writable /ws/pkg',
    'hidden_folder /other/.hawser',
    'hidden_folder /ws/pkg/.hawser',
    'writable /ws',
    'writable /other',
  ])
})

test('a protected path in $HAWSER_HOME does not uncover it', async () => {
  const paths = ['home/instances/i/.git/config', 'home/instances/i/.hawser']
  const shown = await lines([], (root) => {
    mkdirSync(join(root, 'ws', 'home/instances/i/.git'), { recursive: true })
    mkdirSync(join(root, 'ws', 'home/instances/i/.hawser'))
    writeFileSync(join(root, 'ws', 'home/instances/i/.git/config'), '')
    const facts = { kind: 'file', id: '', target: undefined, stamp: '' } as const
    const places = paths.map((path) => ({ path, ...facts }))
    return { hawserHome: join(root, 'ws/home'), places }
  })
  expect(shown).toEqual([
    'hidden_folder /ws/home',
    'writable /ws',
    'hidden_folder /ws/home/instances/i/.hawser',
  ])
})

test('a guest sees its records in place of the .hawser of its workspace, and none without them', async () => {
  const records = (root: string) => join(root, 'ws/.hawser/instances/a')
  expect(await lines(['.hawser'], (root) => ({ guest: true, records: records(root) }))).toEqual([
    'writable /ws',
    'hidden_folder /ws/.hawser',
    'writable /ws/.hawser from /ws/.hawser/instances/a',
  ])
  expect(await lines(['.hawser'], () => ({ guest: true }))).toEqual([
    'writable /ws',
    'hidden_folder /ws/.hawser',
  ])
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
