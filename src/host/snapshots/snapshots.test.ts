import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Result } from '../../model/errors.ts'
import type { PathChange } from '../../model/events/snapshot-entry.ts'
import { systemClock } from '../clock.ts'
import { systemIds } from '../ids.ts'
import { workspaceSnapshots, type Snapshots } from './snapshots.ts'

const roots: string[] = []

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true })
})

interface Place {
  readonly workspace: string
  readonly home: string
  readonly snapshots: Snapshots
  /** As another process would. */
  readonly reopen: () => Snapshots
}

function place(): Place {
  const root = mkdtempSync(join(tmpdir(), 'snapshots-'))
  roots.push(root)
  const [workspace, home] = [join(root, 'workspace'), join(root, 'home')]
  mkdirSync(workspace)
  mkdirSync(home, { mode: 0o700 })
  const reopen = () => workspaceSnapshots({ workspace, home, ids: systemIds(systemClock) })
  return { workspace, home, snapshots: reopen(), reopen }
}

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

async function tree(snapshots: Snapshots): Promise<string> {
  return value(await snapshots.take()).tree
}

/** Restores what a change did, and compares the whole workspace with what it was. */
async function undone({ workspace, snapshots }: Place, change: () => void): Promise<PathChange[]> {
  const before = await tree(snapshots)
  const was = listing(workspace)
  change()
  const after = await tree(snapshots)
  const changes = value(await snapshots.changes(before, after))
  const steps = changes.map(({ path, before: to, after: expected }) => {
    return { path, to, expect: expected }
  })
  const { outcomes } = value(await snapshots.restore(steps))
  expect([...outcomes.values()].filter((outcome) => outcome !== 'restored')).toEqual([])
  expect(listing(workspace)).toEqual(was)
  expect(await tree(snapshots)).toBe(before)
  return [...changes]
}

/** Every entry with kind, mode and content. Names are any bytes. */
function listing(folder: string, path = ''): string[] {
  const bytes = (name: string) => Buffer.from(`${folder}/${name}`, 'latin1')
  return readdirSync(bytes(path), 'buffer')
    .flatMap((name) => {
      const inner = join(path, name.toString('latin1'))
      const at = bytes(inner)
      const facts = lstatSync(at)
      const mode = (facts.mode & 0o777).toString(8)
      if (facts.isSymbolicLink()) return [`${inner} -> ${readlinkSync(at)}`]
      if (facts.isDirectory()) return [`${inner}/ ${mode}`, ...listing(folder, inner)]
      return [`${inner} ${mode} ${readFileSync(at).toString('base64')}`]
    })
    .toSorted()
}

function git(folder: string, ...args: readonly string[]): string {
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
  return execFileSync('git', [...who, ...args], { cwd: folder, env, encoding: 'utf8' })
}

test('an unchanged tree has the same id, in another process too, and costs no bytes', async () => {
  const { workspace, home, snapshots, reopen } = place()
  mkdirSync(join(workspace, 'a/b'), { recursive: true })
  for (let n = 0; n < 300; n++) writeFileSync(join(workspace, `a/b/${n}.txt`), `${n}\n`)
  const first = await tree(snapshots)
  const [store = ''] = readdirSync(join(home, 'snapshots'))
  const packs = () =>
    readdirSync(join(home, 'snapshots', store)).filter((name) => name.endsWith('.pack'))
  const before = packs()
  for (let n = 0; n < 20; n++) expect(await tree(snapshots)).toBe(first)
  expect(await tree(reopen())).toBe(first)
  expect(packs()).toEqual(before)
  expect(before).toHaveLength(1)
})

test.each<[string, (folder: string) => void]>([
  ['deletion of everything', (at) => rmSync(join(at, 'src'), { recursive: true })],
  ['another mode', (at) => chmodSync(join(at, 'src/run.sh'), 0o600)],
  ['another mode of a folder', (at) => chmodSync(join(at, 'src'), 0o700)],
  ['truncation in place', (at) => truncateSync(join(at, 'src/run.sh'), 2)],
  ['content of the same length and time', sameLength],
  ['a folder in the place of a file', fileToFolder],
  ['a link in the place of a folder', folderToLink],
  ['another target of a link', relink],
  ['another case of a name', (at) => renameSync(join(at, 'src/run.sh'), join(at, 'src/RUN.sh'))],
  ['new folders', (at) => mkdirSync(join(at, 'new/deep'), { recursive: true })],
  ['a second hard link', (at) => linkSync(join(at, 'src/run.sh'), join(at, 'second'))],
  ['names that are not UTF-8', oddNames],
  ['moved folders', (at) => renameSync(join(at, 'src'), join(at, 'lib'))],
])('%s is put back exactly', async (_title, change) => {
  const at = place()
  mkdirSync(join(at.workspace, 'src/empty'), { recursive: true })
  writeFileSync(join(at.workspace, 'src/run.sh'), 'echo one\n', { mode: 0o755 })
  writeFileSync(join(at.workspace, 'src/ü 🙂'), Buffer.from([0, 1, 255]))
  writeFileSync(Buffer.from(`${at.workspace}/src/\xff\xfe`, 'latin1'), 'odd')
  symlinkSync('nowhere', join(at.workspace, 'src/link'))
  const changes = await undone(at, () => change(at.workspace))
  expect(changes.length).toBeGreaterThan(0)
})

function sameLength(at: string): void {
  const path = join(at, 'src/run.sh')
  const { atime, mtime } = lstatSync(path)
  writeFileSync(path, 'echo two\n')
  utimesSync(path, atime, mtime)
}

function fileToFolder(at: string): void {
  rmSync(join(at, 'src/run.sh'))
  mkdirSync(join(at, 'src/run.sh'))
  writeFileSync(join(at, 'src/run.sh/inner'), 'x')
}

function folderToLink(at: string): void {
  rmSync(join(at, 'src'), { recursive: true })
  symlinkSync('/etc', join(at, 'src'))
}

function relink(at: string): void {
  rmSync(join(at, 'src/link'))
  symlinkSync('run.sh', join(at, 'src/link'))
}

function oddNames(at: string): void {
  rmSync(Buffer.from(`${at}/src/\xff\xfe`, 'latin1'))
  writeFileSync(Buffer.from(`${at}/src/caf\xe9`, 'latin1'), 'odd too')
}

test('a path that changed since is left alone', async () => {
  const { workspace, snapshots } = place()
  writeFileSync(join(workspace, 'a'), 'one')
  const before = await tree(snapshots)
  writeFileSync(join(workspace, 'a'), 'two')
  const [change] = value(await snapshots.changes(before, await tree(snapshots)))
  writeFileSync(join(workspace, 'a'), 'mine')
  const step = { path: 'a', to: change?.before, expect: change?.after }
  const { outcomes } = value(await snapshots.restore([step]))
  expect(outcomes.get('a')).toBe('changed_since')
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('mine')
})

test('a restoration follows no link out of the workspace', async () => {
  const { workspace, home, snapshots } = place()
  mkdirSync(join(workspace, 'd'))
  writeFileSync(join(workspace, 'd/a'), 'one')
  const before = await tree(snapshots)
  rmSync(join(workspace, 'd'), { recursive: true })
  const changes = value(await snapshots.changes(before, await tree(snapshots)))
  symlinkSync(home, join(workspace, 'd'))
  const steps = changes.map(({ path, before: to, after }) => ({ path, to, expect: after }))
  const { outcomes } = value(await snapshots.restore(steps))
  expect([...outcomes.values()]).toEqual(['changed_since', 'changed_since'])
  expect(existsSync(join(home, 'a'))).toBe(false)
})

test('ignored files, nested repositories and pipes are named, and what was covered once stays covered', async () => {
  const { workspace, snapshots } = place()
  mkdirSync(join(workspace, 'nested/.git'), { recursive: true })
  mkdirSync(join(workspace, 'node_modules/x'), { recursive: true })
  mkdirSync(join(workspace, 'src'))
  writeFileSync(join(workspace, 'src/a'), 'one')
  writeFileSync(join(workspace, '.gitignore'), 'node_modules/\n*.log\n')
  writeFileSync(join(workspace, 'x.log'), 'log')
  execFileSync('mkfifo', [join(workspace, 'pipe')])
  const { tree: before, uncoveredPaths } = value(await snapshots.take())
  expect(uncoveredPaths.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: 'nested', why: 'repository' },
    { path: 'node_modules', why: 'ignored' },
    { path: 'pipe', why: 'not_regular_file' },
    { path: 'x.log', why: 'ignored' },
  ])
  writeFileSync(join(workspace, '.gitignore'), '*\n')
  mkdirSync(join(workspace, 'src/.git'))
  rmSync(join(workspace, 'src/a'))
  const changes = value(await snapshots.changes(before, await tree(snapshots)))
  expect(changes.map(({ path }) => path)).toEqual(['.gitignore', 'src/a'])
})

test.each([
  'rm -rf .git',
  'mv .git x',
  'git update-ref -d refs/heads/main',
  'git reset --hard HEAD~1',
  'git checkout --orphan o',
  'find . -delete',
])('after %s, history, index and files are back, and git finds no fault', async (command) => {
  const { workspace, snapshots } = place()
  git(workspace, 'init', '-q', '-b', 'main')
  for (const name of ['one', 'two']) {
    writeFileSync(join(workspace, name), `${name}\n`)
    git(workspace, 'add', '-A')
    git(workspace, 'commit', '-qm', name)
  }
  git(workspace, 'gc', '-q')
  writeFileSync(join(workspace, 'three'), 'three\n')
  git(workspace, 'add', 'three')
  const facts = () => [
    git(workspace, 'log', '--format=%H %s'),
    git(workspace, 'status', '--porcelain'),
    git(workspace, 'fsck', '--full', '--strict'),
  ]
  const was = facts()
  const before = await tree(snapshots)
  execFileSync('bash', ['-c', command], { cwd: workspace, stdio: 'ignore' })
  const changes = value(await snapshots.changes(before, await tree(snapshots)))
  const steps = changes.map(({ path, before: to, after }) => ({ path, to, expect: after }))
  const { outcomes, lostObjects } = value(await snapshots.restore(steps))
  expect([...outcomes].filter(([, outcome]) => outcome !== 'restored')).toEqual([])
  expect(lostObjects).toEqual([])
  expect(facts()).toEqual(was)
})

test('an object of git that a command overwrote in place is named as lost', async () => {
  const { workspace, snapshots } = place()
  git(workspace, 'init', '-q', '-b', 'main')
  writeFileSync(join(workspace, 'one'), 'one\n')
  git(workspace, 'add', '-A')
  git(workspace, 'commit', '-qm', 'one')
  const before = await tree(snapshots)
  const id = git(workspace, 'rev-parse', 'HEAD').trim()
  const object = join('.git/objects', id.slice(0, 2), id.slice(2))
  chmodSync(join(workspace, object), 0o644)
  writeFileSync(join(workspace, object), 'overwritten')
  rmSync(join(workspace, '.git'), { recursive: true })
  const changes = value(await snapshots.changes(before, await tree(snapshots)))
  const steps = changes.map(({ path, before: to, after }) => ({ path, to, expect: after }))
  expect(value(await snapshots.restore(steps)).lostObjects).toEqual([object])
})

test('a damaged pack is noticed: its contents count as missing, and nothing wrong is restored', async () => {
  const { workspace, home, snapshots, reopen } = place()
  writeFileSync(join(workspace, 'a'), 'one'.repeat(100))
  const before = await tree(snapshots)
  writeFileSync(join(workspace, 'a'), 'two')
  const after = await tree(snapshots)
  const changes = value(await snapshots.changes(before, after))
  const [store = ''] = readdirSync(join(home, 'snapshots'))
  for (const name of readdirSync(join(home, 'snapshots', store))) {
    const path = join(home, 'snapshots', store, name)
    const bytes = name.endsWith('.pack') ? readFileSync(path) : undefined
    if (bytes !== undefined) writeFileSync(path, bytes.fill(0xff, 0, 8))
  }
  const [change] = changes
  const step = { path: 'a', to: change?.before, expect: change?.after }
  expect(value(await reopen().restore([step])).outcomes.get('a')).toBe('missing')
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('two')
})
