import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import type { Result } from '../../model/errors.ts'
import { systemClock } from '../clock.ts'
import { systemIds } from '../ids.ts'
import { workspaceSnapshots } from './snapshots.ts'

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
git checkout -q -b side && printf side > side.txt && git add -A && git commit -qm side && git checkout -q main
printf 'four\\n' >> a.txt && git commit -qam two && git diff HEAD~1 -R > change.patch
printf untracked > untracked.txt && printf staged > staged.txt && git add staged.txt
`

let template = ''
const made: string[] = []

beforeAll(() => {
  template = folder()
  execFileSync('bash', ['-ec', BUILD], { cwd: template, stdio: 'ignore' })
})
afterAll(() => {
  for (const one of made) rmSync(one, { recursive: true, force: true })
})

test('the corpus has at least 120 commands', () => {
  expect(commands.length).toBeGreaterThanOrEqual(120)
})

test.each(commands)('%s: undo restores every path exactly, and redo returns', async (command) => {
  const [workspace, home] = [join(folder(), 'w'), folder()]
  execFileSync('cp', ['-a', template, workspace])
  const snapshots = workspaceSnapshots({ workspace, home, ids: systemIds(systemClock) })
  const take = async () => value(await snapshots.take()).tree
  const before = await take()
  const was = listing(workspace)
  spawnSync('bash', ['-c', command], { cwd: workspace, stdio: 'ignore' })
  const is = listing(workspace)
  const after = await take()
  const changes = value(await snapshots.changes(before, after))
  expect(changes.length > 0).toBe(was !== is)

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
})

/** What snapshots cover, as the system's own tools see it. */
function listing(workspace: string): string {
  const skipped = [
    './.git/objects/??',
    './.git/objects/pack',
    './node_modules',
    './nested',
    './pipe',
    './dist',
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
  const made_here = mkdtempSync(join(tmpdir(), 'corpus-'))
  made.push(made_here)
  return made_here
}

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}
