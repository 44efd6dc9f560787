import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { workspaceSnapshots } from '../../../src/host/snapshots/snapshots.ts'
import { value } from '../../support/log/story.ts'

/** Leaves a mark when anything starts it. */
function trap(root: string): string {
  const path = join(root, 'trap.sh')
  writeFileSync(path, `#!/bin/sh\ntouch ${join(root, 'started')}\ncat\n`)
  chmodSync(path, 0o755)
  return path
}

const git = (folder: string, ...args: readonly string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    stdio: 'ignore',
  })

/** Each plants something that makes git start a program, or lead it elsewhere. */
export const PLANTS: Readonly<Record<string, (workspace: string, program: string) => void>> = {
  fsmonitor: (at, program) => git(at, 'config', 'core.fsmonitor', program),
  'filters and text conversion': (at, program) => {
    writeFileSync(join(at, '.gitattributes'), '* filter=x diff=x merge=x ident eol=crlf\n')
    for (const key of ['filter.x.clean', 'filter.x.smudge', 'filter.x.process', 'diff.x.textconv'])
      git(at, 'config', key, program)
  },
  hooks: (at, program) => {
    for (const hook of [
      'post-index-change',
      'pre-commit',
      'reference-transaction',
      'post-checkout',
    ])
      symlinkSync(program, join(at, '.git/hooks', hook))
  },
  'settings that name programs': (at, program) => {
    for (const key of [
      'core.pager',
      'core.editor',
      'core.sshCommand',
      'diff.external',
      'gpg.program',
    ])
      git(at, 'config', key, program)
    git(at, 'config', 'include.path', '/etc/passwd')
  },
  'a nested repository with its own settings': (at, program) => {
    execFileSync('git', ['init', '-q', join(at, 'nested')])
    git(join(at, 'nested'), 'config', 'core.fsmonitor', program)
    writeFileSync(join(at, 'nested/file'), 'x')
    git(at, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},nested`)
  },
  'replaced objects and grafts': (at) => {
    git(at, 'commit', '--allow-empty', '-qm', 'two')
    git(at, 'replace', 'HEAD', 'HEAD~1')
    writeFileSync(join(at, '.git/info/grafts'), `${'1'.repeat(40)} ${'2'.repeat(40)}\n`)
  },
  'an object that inflates to a thousand times its size': (at) => {
    mkdirSync(join(at, '.git/objects/ac'), { recursive: true })
    const bomb = deflateSync(Buffer.alloc(1 << 26))
    writeFileSync(join(at, '.git/objects/ac', 'd'.repeat(38)), bomb)
  },
  'a rule file that is a pipe': (at) => {
    mkdirSync(join(at, 'd'))
    execFileSync('mkfifo', [join(at, 'd/.gitignore')])
    rmSync(join(at, '.git/info/exclude'), { force: true })
    execFileSync('mkfifo', [join(at, '.git/info/exclude')])
  },
  alternates: (at) =>
    writeFileSync(join(at, '.git/objects/info/alternates'), '/proc/self/root/etc\n'),
  'a .git file': (at) => {
    rmSync(join(at, '.git'), { recursive: true })
    writeFileSync(join(at, '.git'), 'gitdir: /etc\n')
  },
  'a .git link': (at) => {
    rmSync(join(at, '.git'), { recursive: true })
    symlinkSync('/etc', join(at, '.git'))
  },
  'an index of 64 MiB': (at) => writeFileSync(join(at, '.git/index'), Buffer.alloc(1 << 26, 0xff)),
  'objects that are links': (at) => {
    mkdirSync(join(at, '.git/objects/aa'), { recursive: true })
    symlinkSync('/etc/passwd', join(at, '.git/objects/aa', 'b'.repeat(38)))
    symlinkSync('/etc', join(at, '.git/objects/ab'))
  },
  'rules that cost time': (at) =>
    writeFileSync(join(at, '.gitignore'), `${'*a'.repeat(11)}\n${'**/'.repeat(40)}x\n`.repeat(50)),
  'links out of the workspace': (at) => {
    symlinkSync('/etc', join(at, 'etc'))
    symlinkSync('/etc/passwd', join(at, 'passwd'))
    symlinkSync('loop', join(at, 'loop'))
  },
}

/** Takes a snapshot of a hostile repository below `root`, loses all of it, and restores it. Returns what went wrong. */
export async function runPlant(root: string, name: string): Promise<readonly string[]> {
  const [workspace, home] = [join(root, 'workspace'), join(root, 'home')]
  mkdirSync(home, { recursive: true, mode: 0o700 })
  execFileSync('git', ['init', '-q', workspace])
  writeFileSync(join(workspace, 'a'.repeat(40)), 'one\n')
  git(workspace, 'add', '-A')
  git(workspace, 'commit', '-qm', 'one')
  PLANTS[name]?.(workspace, trap(root))
  rmSync(join(root, 'started'), { force: true })
  const snapshots = workspaceSnapshots({ workspace, home, ids: systemIds(systemClock) })
  const before = value(await snapshots.take())
  rmSync(join(workspace, 'a'.repeat(40)))
  rmSync(join(workspace, '.git'), { recursive: true })
  const after = value(await snapshots.take())
  const changes = value(await snapshots.changes(before.tree, after.tree))
  const wrong: string[] = []
  for (const { path } of changes)
    if (/^(?:etc|\.git\/objects\/a[ab])\//.test(path)) wrong.push(`${name}: ${path} is outside`)
  const steps = changes.map(({ path, before: to, after: expected }) => ({
    path,
    to,
    expect: expected,
  }))
  const { outcomes } = value(await snapshots.restore(steps))
  for (const [path, outcome] of outcomes)
    if (outcome !== 'restored') wrong.push(`${name}: ${path} is ${outcome}`)
  if (existsSync(join(root, 'started'))) wrong.push(`${name}: a program was started`)
  return wrong
}
