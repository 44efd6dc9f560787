import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import type { Result } from '../../model/errors.ts'
import { systemClock } from '../clock.ts'
import { systemIds } from '../ids.ts'
import type { PathChange } from '../../model/events/snapshot-entry.ts'
import { systemPath } from './names.ts'
import { workspaceSnapshots, type Snapshots } from './snapshots.ts'

const { commands } = z
  .object({ commands: z.array(z.string()) })
  .parse(JSON.parse(readFileSync('test/vectors/snapshots/commands.json', 'utf8')))

const BUILD = `
git init -q -b main . && git config user.name a && git config user.email a@example.org
mkdir -p src/deep docs bin empty many
printf 'one\\ntwo\\nthree\\n' > a.txt; printf 'main\\n' > src/main.ts; printf same > src/same.txt
printf 'leaf\\n' > src/deep/leaf.txt; printf '# Guide\\n' > docs/guide.md; printf 'x\\n' > README.md
printf '\\0\\1\\377\\2' > src/data.bin; printf '#!/bin/sh\\n' > bin/run.sh; chmod 755 bin/run.sh
ln -s run.sh bin/link; printf '*.log\\nnode_modules/\\n' > .gitignore; printf x > "odd-$(printf '\\377')"
for i in $(seq 60); do echo $i > many/$i; done
git add -A && git commit -qm one
mkdir dep && printf '{"name":"dep","version":"1.0.0"}' > dep/package.json
printf '{"name":"p","version":"1.0.0","dependencies":{"dep":"file:dep"}}' > package.json
npm install --offline --no-audit --no-fund --silent --package-lock-only
printf 'const  x={a:1,b:[1,2]}\\nexport  {x}' > src/unformatted.ts; git add -A; git commit -qm project
git checkout -q -b side && printf side > side.txt && git add -A && git commit -qm side && git checkout -q main
git format-patch -q -1 side --stdout > ../mail.patch
printf 'four\\n' >> a.txt && git commit -qam two && git diff HEAD~1 -R > change.patch
mv ../mail.patch . && printf untracked > untracked.txt && printf staged > staged.txt && git add staged.txt
`

let template = ''
const made: string[] = []
/** In memory where the run has such a folder: thousands of files are synced here. */
const PLACE = process.env['HAWSER_TEST_ROOT'] ?? tmpdir()
const cache = mkdtempSync(join(PLACE, 'corpus-npm-'))
/** Where tools are, and a place of their own for what they keep. */
const ENV = { ...process.env, REPO: process.cwd(), npm_config_cache: cache, HOME: cache }

beforeAll(() => {
  template = join(mkdtempSync(join(PLACE, 'corpus-template-')), 'w')
  // Of the workspace itself, no permissions are covered.
  mkdirSync(template, { mode: 0o700 })
  execFileSync('bash', ['-ec', BUILD], { cwd: template, stdio: 'ignore', env: ENV })
})
afterEach(() => {
  for (const one of made.splice(0)) rmSync(one, { recursive: true, force: true })
})
afterAll(() => {
  for (const one of [cache, join(template, '..')]) rmSync(one, { recursive: true, force: true })
})

test('the corpus has at least 120 commands', () => {
  expect(commands.length).toBeGreaterThanOrEqual(120)
})

test.each(commands)(
  '%s: undo restores every path exactly, diff is what git shows, and redo returns',
  async (command) => {
    const [workspace, home] = [join(folder(), 'w'), folder()]
    execFileSync('cp', ['-a', template, workspace])
    const snapshots = workspaceSnapshots({ workspace, home, ids: systemIds(systemClock) })
    const take = async () => value(await snapshots.take()).tree
    const before = await take()
    const was = listing(workspace)
    const seen = gitView(workspace)
    spawnSync('bash', ['-c', command], { cwd: workspace, stdio: 'ignore', env: ENV })
    const is = listing(workspace)
    const after = await take()
    const changes = value(await snapshots.changes(before, after))
    expect(changes.length > 0).toBe(was !== is)
    expect(await shownAsByGit(snapshots, changes)).toEqual(seen.changes())

    const back = changes.map(({ path, before: to, after: expected }) => ({
      path,
      to,
      expect: expected,
    }))
    const undone = value(await snapshots.restore(back))
    expect([...undone.outcomes].filter(([, outcome]) => outcome !== 'restored')).toEqual([])
    expect(undone.lostObjects).toEqual([])
    // Of what is not covered, the id of a tree has the names.
    expect(value(await snapshots.changes(before, await take()))).toEqual([])
    expect(listing(workspace)).toBe(was)
    execFileSync('git', ['fsck', '--full'], { cwd: workspace, stdio: 'ignore' })

    const forth = changes.map(({ path, before: expected, after: to }) => ({
      path,
      to,
      expect: expected,
    }))
    const redone = value(await snapshots.restore(forth))
    expect([...redone.outcomes].filter(([, outcome]) => outcome !== 'restored')).toEqual([])
    const left = value(await snapshots.changes(after, await take())).map(({ path }) => path)
    // Objects of git are put back, and never deleted.
    expect(left.filter((path) => !['.git', '.git/objects'].includes(path))).toEqual([])
    if (left.length === 0) expect(listing(workspace)).toBe(is)
  },
)

/** What git shows of the files in a workspace: with a repository of its own, and without the settings of any other. */
function gitView(workspace: string): { changes: () => readonly string[] } {
  const view = folder()
  const git = (...args: readonly string[]) =>
    spawnSync('git', ['--git-dir', view, '--work-tree', workspace, ...args], {
      cwd: workspace,
      encoding: 'latin1',
      maxBuffer: 1 << 28,
      env: { PATH: process.env['PATH'], HOME: cache, GIT_CONFIG_NOSYSTEM: '1' },
    }).stdout
  execFileSync('git', ['init', '-q', '--bare', view])
  execFileSync('git', ['--git-dir', view, 'config', 'core.bare', 'false'])
  mkdirSync(join(view, 'info'), { recursive: true })
  writeFileSync(join(view, 'info/attributes'), '* -text -ident -filter\n')
  const tree = () => {
    git('add', '-A', '--ignore-errors', '.')
    return git('write-tree').trim()
  }
  const before = tree()
  return {
    changes: () => {
      const fields = git(
        'diff-tree',
        '-r',
        '-z',
        '--no-renames',
        '--no-abbrev',
        before,
        tree(),
      ).split('\0')
      const found: string[] = []
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const [from = '', to = '', old = '', now = ''] = (fields[at] ?? '').slice(1).split(' ')
        // Of a nested repository, git shows the commit.
        if (from !== '160000' && to !== '160000')
          found.push(`${fields[at + 1]} ${from} ${old} ${to} ${now}`)
      }
      return found.toSorted()
    },
  }
}

/** The changes of files and links outside of the repository, as git names them. */
async function shownAsByGit(
  snapshots: Snapshots,
  changes: readonly PathChange[],
): Promise<readonly string[]> {
  const found: string[] = []
  for (const { path, before, after } of changes) {
    if (path === '.git' || path.startsWith('.git/')) continue
    const [from, to] = [await gitEntry(snapshots, before), await gitEntry(snapshots, after)]
    const name = systemPath(path)
    const bytes = typeof name === 'string' ? Buffer.from(name) : name
    const [[mode, id], [newMode, newId]] = [from.split(' '), to.split(' ')]
    if (from !== to) found.push(`${bytes.toString('latin1')} ${mode} ${id} ${newMode} ${newId}`)
  }
  return found.toSorted()
}

/** Mode and id. Git sees no folders, and of the permissions only whether the owner may execute a file. */
async function gitEntry(snapshots: Snapshots, entry: PathChange['before']): Promise<string> {
  const bytes =
    entry?.kind === 'file'
      ? await snapshots.content(entry.sha256)
      : entry?.kind === 'link'
        ? Buffer.from(entry.target)
        : undefined
  if (bytes === undefined) return `000000 ${'0'.repeat(40)}`
  const id = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
  if (entry?.kind !== 'file') return `120000 ${id}`
  return `${(entry.mode & 0o100) === 0 ? '100644' : '100755'} ${id}`
}

/** What snapshots cover, as the system's own tools see it. */
function listing(workspace: string): string {
  const skipped = [
    './.git/objects/??',
    './.git/objects/pack',
    './node_modules',
    './nested',
    './pipe',
    './dist',
    './sub',
  ]
  const prune = skipped.flatMap((path, at) => [...(at === 0 ? [] : ['-o']), '-path', path])
  const rest = [
    '-o',
    '-name',
    '*.log',
    '-o',
    '-name',
    '*.lock',
    '-o',
    '-path',
    './src/.git',
    '-o',
    '-path',
    './.git/modules',
  ]
  const find = ['.', '(', ...prune, ...rest, ')', '-prune', '-o', '-printf', '%y %m %p -> %l\\n']
  const names = execFileSync('find', find, { cwd: workspace, encoding: 'latin1' })
  const sums = spawnSync(
    'bash',
    [
      '-c',
      `find . '(' "$@" ')' -prune -o -type f -print0 | sort -z | xargs -0r sha256sum`,
      'sums',
      ...prune,
      ...rest,
    ],
    { cwd: workspace, encoding: 'latin1' },
  ).stdout
  return `${names.split('\n').toSorted().join('\n')}\n${sums}`
}

function folder(): string {
  const made_here = mkdtempSync(join(PLACE, 'corpus-'))
  made.push(made_here)
  return made_here
}

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}
