import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { readableMounts, withoutRedundant } from './readable-mounts.ts'
import { pathPlaces, toolchainsOf } from './toolchain-folders.ts'

test('finds a toolchain in a home or where its variable points, and passes the variable on', async () => {
  const home = await freshFolder()
  for (const folder of ['.rustup', '.jdks', 'elsewhere', '.local/share/uv'])
    await mkdir(join(home, folder), { recursive: true })
  const env = { CARGO_HOME: join(home, 'elsewhere'), NVM_DIR: join(home, 'missing') }
  const found = toolchainsOf(env, [home], () => true)
  expect(found.places).toEqual([
    { folder: '.rustup', at: join(home, '.rustup') },
    { folder: '.cargo', at: join(home, 'elsewhere') },
    { folder: '.local/share/uv', at: join(home, '.local/share/uv') },
    { folder: '.jdks', at: join(home, '.jdks') },
  ])
  expect(found.variables).toEqual({
    RUSTUP_HOME: join(home, '.rustup'),
    CARGO_HOME: join(home, 'elsewhere'),
    UV_PYTHON_INSTALL_DIR: join(home, '.local/share/uv/python'),
    UV_TOOL_DIR: join(home, '.local/share/uv/tools'),
  })
})

test('shows the rest of an installation with its bin, but nothing beside a bin of the home', () => {
  const places = pathPlaces({ PATH: '/h/me/bin:/h/me/.local/bin:/x/node/bin/:rel' }, ['/h/me'])
  expect(places.filter((path) => path !== process.execPath)).toEqual([
    '/h/me/bin',
    '/h/me/.local/bin',
    '/x/node/bin',
    ...['lib', 'lib64', 'libexec', 'share', 'include', 'pyvenv.cfg'].map(
      (name) => `/x/node/${name}`,
    ),
  ])
})

test('a path through links is shown with each of them', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'store/v1/bin'), { recursive: true })
  await symlink('v1', join(root, 'store/current'))
  await symlink(join(root, 'store/current'), join(root, 'profile'))
  const mounts = readableMounts(join(root, 'profile/bin'))
  expect(mounts).toEqual([
    { at: join(root, 'profile'), as: 'link', from: join(root, 'store/current') },
    { at: join(root, 'store/current'), as: 'link', from: 'v1' },
    { at: join(root, 'store/v1/bin'), as: 'readable' },
  ])
  const all = [...mounts, { at: join(root, 'store'), as: 'readable' } as const]
  expect(withoutRedundant(all, []).map(({ at }) => at)).toEqual([
    join(root, 'profile'),
    join(root, 'store'),
  ])
})

test('an entry that is neither folder nor file is not shown', () => {
  expect(readableMounts('/dev/null')).toEqual([])
  expect(readableMounts('/nowhere/at/all')).toEqual([])
})
