import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { gitScene, type GitScene } from './git-scene.ts'

const { isConfined } = await systemSandbox().status()
const AS = 'git -c user.name=a -c user.email=a@b -c protocol.file.allow=always'

/** Repositories that people created: their configuration is read-only to commands. */
async function repository(): Promise<GitScene> {
  const scene = await gitScene()
  const as = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  await scene.git('init', '-q')
  await scene.git('init', '-q', 'lib')
  await scene.write({ a: 'a\n', 'lib/f': 'lib\n' })
  await scene.git('-C', 'lib', 'add', 'f')
  await scene.git('-C', 'lib', ...as, 'commit', '-qm', 'lib')
  await scene.git('add', 'a')
  await scene.git(...as, 'commit', '-qm', 'a')
  return scene
}

const WORK: Readonly<Record<string, readonly [script: string, shows: string]>> = {
  'makes a repository and commits': [
    `mkdir n; cd n; git init -q . && echo x >x && git add x && ${AS} commit -qm first && git log --format=%s`,
    'first\n',
  ],
  'clones a repository of this disk': ['git clone -q lib copy && cat copy/f', 'lib\n'],
  'clones a bare repository': [
    'git clone -q --bare lib b.git && git -C b.git log --format=%s',
    'lib\n',
  ],
  'adds a submodule and commits it': [
    `${AS} submodule --quiet add ROOT/lib sub 2>/dev/null && ${AS} commit -qm sub && cat sub/f`,
    'lib\n',
  ],
  'adds a work tree and commits there': [
    `git worktree add -q w 2>/dev/null && cd w && echo y >y && git add y && ${AS} commit -qm y && git log -1 --format=%s`,
    'y\n',
  ],
}

describe.skipIf(!isConfined)('git in the sandbox', () => {
  test.each(Object.entries(WORK))(
    '%s',
    async (_, [script, shows]) => {
      const scene = await repository()
      expect(await scene.bash(script)).toEqual({ moved: [], code: 0, output: shows })
      expect((await scene.bash('git status --short')).code).toBe(0)
    },
    60_000,
  )

  test('changes, moves and removes repositories that commands of this process created', async () => {
    const scene = await repository()
    await scene.bash('git clone -q lib copy; git worktree add -q w 2>/dev/null')
    const { moved, code } = await scene.bash(
      'git -C copy remote add up https://example.org/x.git && git -C copy config user.name A && mv copy other && rm -rf other && git worktree remove w',
    )
    expect([moved, code]).toEqual([[], 0])
  }, 60_000)

  test('checks out the submodules of a clone that people created', async () => {
    const scene = await repository()
    await scene.bash(`${AS} submodule --quiet add ROOT/lib sub 2>/dev/null; ${AS} commit -qm sub`)
    const clone = await gitScene()
    await clone.git('clone', '-q', scene.path, '.')
    const config = await readFile(join(clone.path, '.git/config'), 'utf8')
    const url = `git config -f .gitmodules submodule.sub.url`
    await clone.bash(`git clone -q --bare ROOT lib2; ${url} ROOT/lib2`)
    const { moved, code, output } = await clone.bash(`${AS} submodule update --init; ls sub/.git`)
    expect([moved, output.endsWith('sub/.git\n'), code]).toEqual([[], true, 0])
    expect(await readFile(join(clone.path, '.git/config'), 'utf8')).toBe(config)
  }, 60_000)

  test('runs the hooks of people and leaves them unchanged', async () => {
    const scene = await gitScene()
    await scene.git('init', '-q')
    const hook = join(scene.path, '.git/hooks/pre-commit')
    await writeFile(hook, '#!/bin/sh\necho checked\n')
    await chmod(hook, 0o755)
    const { moved, code, output } = await scene.bash(`echo a >a; git add a; ${AS} commit -qm a`)
    expect([moved, code, output]).toEqual([[], 0, 'checked\n'])
    expect(await readFile(hook, 'utf8')).toContain('checked')
  }, 60_000)

  test('lists other files in subfolders that may run later, and leaves them', async () => {
    const scene = await repository()
    const { moved } = await scene.bash(
      'mkdir -p v/.vscode && echo {} >v/.vscode/tasks.json && echo x >v/AGENTS.md',
    )
    expect(moved).toEqual([])
    expect(await readFile(join(scene.path, 'v/AGENTS.md'), 'utf8')).toBe('x\n')
  }, 60_000)
})
