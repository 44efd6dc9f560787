import { expect, test } from 'vitest'
import { readOnlyCommand } from './read-only-command.ts'
import { withoutFilters } from './read-only-git.ts'

const split = (line: string) => line.split(' ')

test.each([
  'git diff HEAD',
  'git diff --stat main...feature/x -- src -x.ts',
  'git diff --cached -U5 -M90%',
  'git log -n 20 --oneline --since=yesterday',
  'git log -5 --format=%h\t%s -Sname',
  'git show HEAD:src/a.ts',
  'git status --short --branch',
  'git blame -L10,20 src/a.ts',
  'git ls-files -o --exclude-standard',
  'git rev-parse --abbrev-ref HEAD',
  'git describe --tags --always',
  'git branch --list -v',
  'git branch --show-current',
  'git tag --list v*',
  'git shortlog -s -n HEAD',
  'git merge-base HEAD main',
  'git cat-file -p HEAD',
  'ls -la src',
  'cat README.md',
  'head -n 5 a.txt',
  'wc -l a b',
  'date -u +%Y',
  'uname -a',
  'pwd',
])('%s only reads', (line) => {
  const argv = split(line)
  const command = readOnlyCommand(argv)
  if (command === undefined) throw new Error('it is not in the table')
  // Every argument is there, in order; others are only added before them.
  const [, ...rest] = argv
  expect(
    command.argv.slice(command.argv.length - rest.length + (argv[0] === 'git' ? 1 : 0)),
  ).toEqual(argv[0] === 'git' ? rest.slice(1) : rest)
  expect(command.env['PATH']).toMatch(/^\/usr/)
})

test.each([
  'git',
  'git push',
  'git diff --output=x',
  'git diff --output x',
  'git diff --outp=x',
  'git diff --ext-diff',
  'git diff --textconv',
  'git diff --no-index a b',
  'git diff -Oorder',
  'git diff --submodule=diff',
  'git diff /etc/passwd a',
  'git diff ../a b',
  'git diff a ~/b',
  'git diff -- ../../x',
  'git log -n -- --output=x',
  'git log -S -- --output=x',
  'git log --show-signature',
  'git log --format=%G?',
  'git log --remerge-diff',
  'git log -m',
  'git log --exec=x',
  'git log --ext-diff',
  'git show --textconv HEAD:a',
  'git -c core.pager=x diff',
  'git -C .. diff',
  'git --git-dir=x diff',
  'git --exec-path=. diff',
  'git blame --contents /etc/passwd a',
  'git branch new',
  'git branch -D main',
  'git branch -v --list',
  'git tag new',
  'git cat-file --textconv HEAD:a',
  'git cat-file --filters HEAD:a',
  'git cat-file --batch',
  'git rev-parse --parseopt',
  'git for-each-ref --format=%(signature)',
  'git for-each-ref --merged -- --shell',
  'git for-each-ref --shell',
  'git status -v',
  'git describe --dirty',
  'git grep -Oless x',
  'git config --list',
  'git stash',
  'git archive HEAD',
  'git format-patch HEAD',
  'git difftool',
  '/usr/bin/git diff',
  './git diff',
  'cat /etc/passwd',
  'cat ../x',
  'cat ~/.ssh/id_rsa',
  'tail -f log',
  'date -s now',
  'date -f x',
  'ls --hyperlink',
  'head --lines=5 x',
  'pwd x',
  'sh -c ls',
  'env',
  'find . -delete',
  'node -e 1',
  'constructor',
  '',
])('%s is unknown', (line) => {
  expect(readOnlyCommand(split(line))).toBeUndefined()
})

test('an argument with NUL is unknown', () => {
  expect(readOnlyCommand(['cat', 'a\0b'])).toBeUndefined()
  expect(readOnlyCommand([])).toBeUndefined()
})

test('git runs without the programs that a repository can configure', () => {
  const { argv = [], env = {} } = readOnlyCommand(['git', 'diff', 'HEAD']) ?? {}
  const text = argv.join(' ')
  for (const part of [
    '-c core.hooksPath=/dev/null',
    '-c core.fsmonitor=false',
    '-c core.pager=cat',
    '-c diff.external=',
    '--no-pager diff --no-ext-diff --no-textconv --ignore-submodules=dirty HEAD',
  ]) {
    expect(text).toContain(part)
  }
  expect(env).toMatchObject({
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
  })
})

test('every filter in the settings is turned off, whatever its name', () => {
  const names = ['core.bare', 'filter.lfs.clean', 'filter.lfs.process', 'filter.a.b\nc.smudge', '']
  expect(withoutFilters(names.join('\0'))).toEqual({
    filters: ['lfs', 'a.b\nc'],
    env: {
      GIT_CONFIG_COUNT: '4',
      GIT_CONFIG_KEY_0: 'filter.lfs.process',
      GIT_CONFIG_VALUE_0: '',
      GIT_CONFIG_KEY_1: 'filter.lfs.required',
      GIT_CONFIG_VALUE_1: 'false',
      GIT_CONFIG_KEY_2: 'filter.a.b\nc.process',
      GIT_CONFIG_VALUE_2: '',
      GIT_CONFIG_KEY_3: 'filter.a.b\nc.required',
      GIT_CONFIG_VALUE_3: 'false',
    },
  })
  expect(withoutFilters('').env).toEqual({ GIT_CONFIG_COUNT: '0' })
})
