import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { gitDirectory, gitScene } from './git-scene.ts'
import { DANGEROUS, GIT_FILES, HARMLESS, PLACES, SPELLINGS } from './git-shapes.ts'

const { isConfined } = await systemSandbox().status()
const CORE = '[core]\n\trepositoryformatversion = 0\n'

describe('a tool that writes what git reads asks in auto', () => {
  const cases = Object.entries(PLACES).flatMap(([where, at]) =>
    GIT_FILES.map((file) => [`${file} of ${where}`, `${at}/${file}`] as const),
  )
  test.each(cases)('%s', async (_, path) => {
    const scene = await gitScene()
    expect(await scene.questions({ [path]: 'x' })).toEqual([path])
  })

  test.each(SPELLINGS)('in the spelling %j', async (name) => {
    const scene = await gitScene()
    const paths = [name, `${name}/config`, `sub/${name}/hooks/x`]
    for (const path of paths) expect(await scene.questions({ [path]: 'x' })).toEqual([path])
  })
})

describe('files written one by one never make git run a program', () => {
  const FSMONITOR = `${CORE}\tfsmonitor = MARK\n`
  const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'a .git folder': gitDirectory('.git', FSMONITOR),
    'a .git folder below': gitDirectory('sub/.git', FSMONITOR),
    'a .git file': { ...gitDirectory('EV', FSMONITOR), '.git': 'gitdir: EV\n' },
    'a .git file below': { ...gitDirectory('EV', FSMONITOR), 'sub/.git': 'gitdir: ../EV\n' },
    'a .git file first': { '.git': 'gitdir: EV\n', ...gitDirectory('EV', FSMONITOR) },
    'a bare repository at the root': gitDirectory('', `${FSMONITOR}\tworktree = ROOT\n`),
    'a bare repository below': gitDirectory('sub', `${FSMONITOR}\tworktree = ROOT\n`),
    'a bare repository, configuration first': Object.fromEntries(
      Object.entries(gitDirectory('sub', `${FSMONITOR}\tworktree = ROOT\n`)).toReversed(),
    ),
    'a common directory': {
      'EV/config': FSMONITOR,
      'EV/objects/x': '',
      'EV/refs/x': '',
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/commondir': '../EV\n',
    },
  }
  test.each(Object.entries(shapes))(
    '%s',
    async (_, files) => {
      const naive = await gitScene()
      await naive.write(files)
      expect(await naive.marked('', 'sub')).toBe(true)
      const scene = await gitScene()
      const questions = await scene.questions(files)
      expect(questions.length).toBeGreaterThan(0)
      expect(await scene.marked('', 'sub')).toBe(false)
    },
    30_000,
  )

  test('a hook in the folder that existing configuration names asks', async () => {
    const scene = await gitScene()
    await scene.git('init', '-q')
    await scene.git('config', 'core.hooksPath', 'tools/hooks')
    await scene.git('config', 'include.path', '../shared.ini')
    const files = { 'tools/hooks/post-index-change': 'x', 'shared.ini': 'x', 'tools/other': 'x' }
    expect(await scene.questions(files)).toEqual(['tools/hooks/post-index-change', 'shared.ini'])
  })
})

describe.skipIf(!isConfined)('a command in auto', () => {
  const config = (at: string) => (text: string) => `printf %s '${text}' >>${at}/config`
  const places: Readonly<Record<string, readonly [string, string, string]>> = {
    'a new repository': ['git init -q .', '.git', ''],
    'a new repository below': ['git init -q sub', 'sub/.git', 'sub'],
  }
  const cases = Object.entries(places).flatMap(([where, [make, at, tree]]) =>
    DANGEROUS.map((shape) => [`${shape.name} in ${where}`, make, at, tree, shape] as const),
  )
  test.each(cases)(
    'cannot leave %s',
    async (_, make, at, tree, shape) => {
      const scene = await gitScene()
      const files = Object.entries(shape.files ?? {}).map(
        ([name, text]) =>
          `mkdir -p "$(dirname '${name}')"; printf %s '${text}' >'${name}'; chmod 755 '${name}'`,
      )
      const script = [make, ...files, config(at)(shape.text)].join('\n')
      const { moved } = await scene.bash(script)
      expect(moved).toEqual([`${at}/config`])
      expect(await scene.marked('', tree)).toBe(false)
    },
    30_000,
  )

  test.each(DANGEROUS.filter(({ runs }) => runs).map((shape) => [shape.name, shape] as const))(
    'would make git run a program by %s, without the sandbox',
    async (_, shape) => {
      const scene = await gitScene()
      await scene.git('init', '-q')
      await scene.write({ a: '' })
      await scene.git('add', 'a')
      const before = await readFile(join(scene.path, '.git/config'), 'utf8')
      const bom = shape.text.startsWith('\ufeff')
      await scene.write({
        ...shape.files,
        '.git/config': bom ? shape.text + before : before + shape.text,
        a: 'changed',
      })
      expect(await scene.marked('')).toBe(true)
    },
    30_000,
  )

  test.each(HARMLESS.map((shape) => [shape.name, shape] as const))(
    'leaves a new repository with %s unchanged',
    async (_, { text }) => {
      const scene = await gitScene()
      const { moved } = await scene.bash(`git init -q sub\n${config('sub/.git')(text)}`)
      expect(moved).toEqual([])
      expect(await readFile(join(scene.path, 'sub/.git/config'), 'utf8')).toContain(text)
    },
    30_000,
  )

  const EVIL = `mkdir -p ev/objects ev/refs ev/hooks; echo 'ref: refs/heads/main' >ev/HEAD; printf '[core]\\n\\tfsmonitor = MARK\\n\\trepositoryformatversion = 0\\n' >ev/config`
  const HOOK = `printf '#!/bin/sh\\nexec MARK\\n'`
  const planted: Readonly<Record<string, readonly [string, readonly string[]]>> = {
    'a .git file that names its own folder': [
      `${EVIL}; echo 'gitdir: ev' >.git`,
      ['.git', 'ev/config'],
    ],
    'a .git file below': [
      `${EVIL}; mkdir sub; echo 'gitdir: ../ev' >sub/.git`,
      ['sub/.git', 'ev/config'],
    ],
    'a .git link': [`${EVIL}; ln -s ev .git`, ['.git', 'ev/config']],
    'a .git file to the outside': [`echo 'gitdir: /etc' >.git`, ['.git']],
    'a .git link to the outside': ['ln -s /etc .git', ['.git']],
    'a .git file with other content': ['echo hello >.git', ['.git']],
    'a bare repository': [EVIL, ['ev/config']],
    'a bare repository at the root': [
      `mkdir objects refs; echo 'ref: refs/heads/main' >HEAD; printf '[core]\\n\\tfsmonitor = MARK\\n' >config`,
      ['config'],
    ],
    'a hook': [
      `git init -q .; ${HOOK} >.git/hooks/post-index-change; chmod 755 .git/hooks/post-index-change`,
      ['.git/hooks/post-index-change'],
    ],
    'a hook below': [
      `git init -q a/b; ${HOOK} >a/b/.git/hooks/pre-commit`,
      ['a/b/.git/hooks/pre-commit'],
    ],
    'hooks by a link': [
      `git init -q .; rm -r .git/hooks; mkdir h; ln -s ../h .git/hooks`,
      ['.git/hooks'],
    ],
    'configuration by a link': [
      `git init -q .; mv .git/config c; echo '[core] fsmonitor = MARK' >>c; ln -s ../c .git/config`,
      ['.git/config'],
    ],
    'a nested repository that is a gitlink': [
      `git init -q .; git init -q sub; cd sub; git -c user.name=a -c user.email=b commit -q --allow-empty -m x; git config core.fsmonitor MARK; cd ..; git add sub 2>/dev/null`,
      ['sub/.git/config'],
    ],
    'a submodule directory': [
      `git init -q .; git init -q s; mkdir -p .git/modules; mv s/.git .git/modules/s; git config -f .git/modules/s/config core.fsmonitor MARK; echo 'gitdir: ../.git/modules/s' >s/.git`,
      ['.git/modules/s/config', 's/.git'],
    ],
    'configuration of a work tree': [
      `git init -q .; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor MARK`,
      ['.git/config.worktree'],
    ],
    'a repository with another spelling': [
      `git init -q x; mv x/.git .GIT; git config -f .GIT/config core.fsmonitor MARK`,
      ['.GIT/config'],
    ],
    'a folder that is closed to a look': [
      `mkdir sub; git init -q sub; git -C sub config core.fsmonitor MARK; chmod 0311 sub`,
      [],
    ],
  }
  test.each(Object.entries(planted))(
    'cannot plant %s',
    async (_, [script, expected]) => {
      const scene = await gitScene()
      const { moved } = await scene.bash(script)
      if (expected.length > 0) expect(new Set(moved)).toEqual(new Set(expected))
      expect(await scene.marked('', 'sub', 's', 'a', 'a/b', 'ev')).toBe(false)
    },
    30_000,
  )

  const existing: Readonly<Record<string, string>> = {
    'write the configuration': `printf '[core]\\n\\tfsmonitor = MARK\\n' >>AT/config`,
    'set it by git': 'git -C TREE config core.fsmonitor MARK',
    'replace the configuration': `cp AT/config c; echo '[core] fsmonitor = MARK' >>c; mv -f c AT/config`,
    'write configuration of the work tree': `printf '[core]\\n\\tfsmonitor = MARK\\n' >AT/config.worktree`,
    'write a common directory': `${EVIL}; echo ../ev >AT/commondir; echo ../../ev >AT/commondir`,
    'add a hook': `${HOOK} >AT/hooks/post-index-change; chmod 755 AT/hooks/post-index-change`,
    'replace the hooks': `mv AT/hooks AT/h; mkdir AT/hooks; ${HOOK} >AT/hooks/post-index-change; chmod 755 AT/hooks/*`,
    'move the repository away and make another': `mv AT AT-old; git init -q TREE; git -C TREE config core.fsmonitor MARK`,
    'put a file in its place': `${EVIL}; mv AT AT-old; rm -rf AT; echo 'gitdir: ev' >AT; echo 'gitdir: ../ev' >AT`,
  }
  const trees = {
    'the repository': ['.git', '.'],
    'a nested repository': ['sub/.git', 'sub'],
  } as const
  const attacks = Object.entries(trees).flatMap(([where, [at, tree]]) =>
    Object.entries(existing).map(
      ([what, script]) => [`${what} of ${where}`, at, tree, script] as const,
    ),
  )
  test.each(attacks)(
    'cannot %s that exists',
    async (_, at, tree, script) => {
      const scene = await gitScene()
      await scene.git('init', '-q')
      await scene.git('init', '-q', 'sub')
      await scene.git('config', 'extensions.worktreeConfig', 'true')
      await scene.git('-C', 'sub', 'config', 'extensions.worktreeConfig', 'true')
      const before = await readFile(join(scene.path, at, 'config'), 'utf8')
      await scene.bash(script.replaceAll('AT', at).replaceAll('TREE', tree))
      expect(await readFile(join(scene.path, at, 'config'), 'utf8')).toBe(before)
      expect(await scene.marked('', 'sub')).toBe(false)
    },
    30_000,
  )

  test('cannot redirect an existing link of .git', async () => {
    const scene = await gitScene()
    await scene.git('init', '-q', 'real')
    await symlink('real/.git', join(scene.path, '.git'))
    const { moved } = await scene.bash(`${EVIL}; ln -sfn ev .git`)
    expect(new Set(moved)).toEqual(new Set(['.git', 'ev/config']))
    expect(await scene.marked('')).toBe(false)
  })
})
