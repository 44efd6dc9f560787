import { expect, test } from 'vitest'
import {
  lockOffences,
  runtimePackagesOf,
  machineTraces,
  versionsNotExact,
  versionsThatDiffer,
} from './package-checks.ts'
import type { Tree } from './source.ts'

const planted = (files: Record<string, string>): Tree => new Map(Object.entries(files))
const packageFile = (content: object): Tree => planted({ 'package.json': JSON.stringify(content) })

test.each([
  '^4.1.2',
  '~4.1.2',
  '4',
  '4.x',
  '*',
  'latest',
  '>=4.1.2',
  'file:../zod',
  'npm:zod@^4.0.0',
])('the version %s is not exact', (version) => {
  expect(versionsNotExact(packageFile({ devDependencies: { zod: version } }))).toEqual([
    `package.json asks for zod ${version}; give one exact version`,
  ])
})

test('exact versions pass, and a peer dependency may be a range', () => {
  const content = {
    dependencies: { zod: '4.1.2', old: 'npm:@scope/name@1.0.0' },
    optionalDependencies: { sharp: '1.0.0-alpha.1' },
    peerDependencies: { react: '>=19' },
  }
  expect(versionsNotExact(packageFile(content))).toEqual([])
})

test('the versions of a workspace are exact too', () => {
  const tree = planted({ 'rehearse/package.json': '{"devDependencies":{"ajv":"^8.0.0"}}' })
  expect(versionsNotExact(tree)).toEqual([
    'rehearse/package.json asks for ajv ^8.0.0; give one exact version',
  ])
})

test('a workspace that disagrees with package.json about a version is an offence', () => {
  const own = { version: '1.1.0', devDependencies: { ajv: '8.0.0', ws: '8.0.0' } }
  const tree = (root: object) =>
    planted({ 'package.json': JSON.stringify(root), 'rehearse/package.json': JSON.stringify(own) })
  const agreed = { version: '1.1.0', dependencies: { ws: '8.0.0' }, devDependencies: { zod: '4' } }
  const peer = { peerDependencies: { 'hawser-rehearse': '1.1.0' } }
  expect(versionsThatDiffer(tree({ ...agreed, ...peer }))).toEqual([])
  expect(versionsThatDiffer(tree(agreed))).toEqual([
    'package.json asks for no hawser-rehearse instead of 1.1.0',
  ])
  const other = { ...peer, version: '1.0.0', devDependencies: { ajv: '8.0.1' } }
  expect(versionsThatDiffer(tree(other))).toEqual([
    'rehearse/package.json has version 1.1.0 instead of 1.0.0',
    'rehearse/package.json asks for ajv 8.0.0 instead of 8.0.1',
  ])
})

test('the program may import what is installed with it', () => {
  const content = {
    dependencies: { a: '1.0.0' },
    devDependencies: { b: '1.0.0' },
    optionalDependencies: { c: '1.0.0' },
    peerDependencies: { d: '1' },
  }
  expect(runtimePackagesOf(packageFile(content))).toEqual(['a', 'c', 'd'])
})

const lockFile = (packages: object): Tree =>
  planted({ 'package-lock.json': JSON.stringify({ packages }) })

test('a lock entry with the address of its package is an offence', () => {
  const packages = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { resolved: 'x' } }
  expect(lockOffences(lockFile(packages))).toEqual([
    'package-lock.json ties node_modules/b to the place it was fetched from',
  ])
  expect(lockOffences(planted({}))).toEqual(['package-lock.json is missing'])
})

test('a lock entry may lead to a folder of this repository, and to no other place', () => {
  const link = (resolved: string) => ({ 'node_modules/hawser-rehearse': { resolved, link: true } })
  const offences = (resolved: string) =>
    lockOffences(new Map([...lockFile(link(resolved)), ['rehearse/package.json', '{}']]))
  expect(offences('rehearse')).toEqual([])
  for (const elsewhere of ['../rehearse', 'https://a.example/x.tgz', 'gone']) {
    expect(offences(elsewhere)).toHaveLength(1)
  }
})

test('a lock without the package of a platform is an offence, because npm ci rejects it', () => {
  const packages = {
    'node_modules/a': {
      version: '1.0.0',
      optionalDependencies: {
        'a-linux': '1.0.0',
        'a-darwin': '1.0.0',
        'a-win32': '1.0.0',
        fs: '~2.1.0',
      },
    },
    'node_modules/a-linux': { version: '1.0.0' },
    'node_modules/a-darwin': { version: '0.9.0' },
    'node_modules/fs': { version: '2.1.3' },
  }
  expect(lockOffences(lockFile(packages))).toEqual([
    'package-lock.json lacks a-darwin 1.0.0; run npm run lock',
    'package-lock.json lacks a-win32 1.0.0; run npm run lock',
  ])
})

test('a file that names a package host is an offence', () => {
  const text = ['https://registry', 'npmjs', 'org/zod'].join('.')
  expect(machineTraces(planted({ '.npmrc': text, 'src/a.test.ts': text }), [])).toEqual([
    '.npmrc names a package host',
    'src/a.test.ts names a package host',
  ])
})

test('a home folder is allowed as an example in tests and an offence elsewhere', () => {
  const tree = planted({
    'README.md': 'run it in /home/ada/project',
    'src/log/a.ts': "const a = '/root/.config'",
    'docs/b.md': '/Users/ada/hawser',
    'src/log/a.test.ts': '/home/ada/project',
    'test/support/c.ts': '/root/x',
    'src/log/d.ts': "['/root', 'dist/root/x', '/home/']",
  })
  expect(machineTraces(tree, [])).toEqual([
    'README.md names the home folder /home/ada/p…',
    'src/log/a.ts names the home folder /root/.…',
    'docs/b.md names the home folder /Users/ada/h…',
  ])
})

test('the folder of this checkout is an offence everywhere', () => {
  const tree = planted({ 'src/log/a.test.ts': 'open /srv/checkout/x', 'README.md': '/srv/other' })
  expect(machineTraces(tree, ['/srv/checkout'])).toEqual(['src/log/a.test.ts names /srv/checkout'])
})
