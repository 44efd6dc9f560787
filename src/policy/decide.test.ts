import { expect, test } from 'vitest'
import { Rule, type ScopedRule } from '../model/rule.ts'
import type { Claim } from './claim.ts'
import { narrower, type PermissionMode } from '../model/modes.ts'
import { decide, type Posture } from './decide.ts'

const claim = (effect: Claim['effect'], more: Partial<Claim> = {}): Claim => ({
  tool: 'tool',
  effect,
  paths: [],
  network: false,
  ...more,
})
const under = (mode: PermissionMode, more: Partial<Posture> = {}): Posture => ({
  mode,
  isConfined: true,
  rules: [],
  ...more,
})
const MODES = ['read-only', 'ask', 'auto'] as const

test.each([
  ['touches nothing', claim('none'), ['allow', 'allow', 'allow']],
  ['reads', claim('read', { paths: ['a'] }), ['allow', 'allow', 'allow']],
  ['writes', claim('write', { paths: ['a'] }), ['deny', 'ask', 'allow']],
  ['writes a protected path', claim('write', { paths: ['AGENTS.md'] }), ['deny', 'ask', 'ask']],
  ['only reads files', claim('run', { command: 'ls -l | wc' }), ['allow', 'allow', 'allow']],
  ['runs anything', claim('run', { command: 'make' }), ['allow', 'ask', 'allow']],
  ['needs the network', claim('run', { command: 'curl x', network: true }), ['deny', 'ask', 'ask']],
] as const)('a call that %s is decided by the mode', (_title, made, answers) => {
  expect(MODES.map((mode) => decide(made, under(mode)).answer)).toEqual(answers)
})

test('without a sandbox every program asks, and none runs in a read-only Session', () => {
  const answers = MODES.map(
    (mode) => decide(claim('run', { command: 'ls' }), under(mode, { isConfined: false })).answer,
  )
  expect(answers).toEqual(['deny', 'ask', 'ask'])
})

test('a program that runs without asking can write only where the mode allows', () => {
  const writable = (mode: PermissionMode, command: string) =>
    decide(claim('run', { command }), under(mode)).writable
  expect([
    writable('read-only', 'make'),
    writable('ask', 'cat a'),
    writable('auto', 'make'),
  ]).toEqual(['nothing', 'nothing', 'workspace'])
})

const allow = (rule: Partial<Rule> & Pick<Rule, 'kind'>): ScopedRule => ({
  rule: Rule.parse({ answer: 'allow', ...rule }),
  scope: 'session',
})
const deny = (rule: object): ScopedRule => ({
  rule: Rule.parse({ answer: 'deny', ...rule }),
  scope: 'workspace',
})

test('a rule for a file or folder covers the real path, never a protected path', () => {
  const rules = [allow({ kind: 'file', path: 'a.txt' }), allow({ kind: 'folder', path: 'src' })]
  const answer = (...paths: readonly string[]) =>
    decide(claim('write', { paths }), under('ask', { rules })).answer
  const cases = [
    [['a.txt'], 'allow'],
    [['./sub/../a.txt'], 'allow'],
    [['link', 'a.txt'], 'allow'],
    [['a.txt', 'b.txt'], 'ask'],
    [['A.txt'], 'ask'],
    [['a.txt/b'], 'ask'],
    [['src/deep/b.ts'], 'allow'],
    [['src'], 'ask'],
    [['srcs/b.ts'], 'ask'],
    [['src/../b.ts'], 'ask'],
    [['src/link', 'other/b.ts'], 'ask'],
    [['src/.git/hooks/x'], 'ask'],
    [['src/AGENTS.md'], 'ask'],
  ] as const
  expect(cases.map(([paths]) => [paths, answer(...paths)])).toEqual(cases)
})

test('a deny rule wins in every mode, whatever the case of a path or the link to it', () => {
  const rules = [
    allow({ kind: 'folder', path: '.' }),
    deny({ kind: 'folder', path: 'vendor' }),
    deny({ kind: 'file', path: 'notes/keep.md' }),
    deny({ kind: 'prefix', words: ['git', 'push'] }),
  ]
  for (const mode of ['ask', 'auto'] as const) {
    const posture = under(mode, { rules })
    const answers = [
      ['vendor/a'],
      ['VENDOR/a'],
      ['link', 'vendor/a'],
      ['notes/keep.md'],
      ['b'],
    ].map((paths) => decide(claim('write', { paths }), posture).answer)
    expect(answers).toEqual(['deny', 'deny', 'deny', 'deny', 'allow'])
    const run = (command: string, network = false) =>
      decide(claim('run', { command, network }), posture).answer
    expect([run('git push'), run('git push', true), run("sh -c 'git push'")]).toEqual([
      'deny',
      'deny',
      'ask',
    ])
  }
  expect(decide(claim('run', { command: 'git push' }), under('read-only', { rules })).answer).toBe(
    'deny',
  )
})

test('unreadable rules allow nothing: every call that is not denied asks', () => {
  const answers = MODES.map((mode) =>
    [claim('write', { paths: ['a'] }), claim('run', { command: 'ls' })].map(
      (made) => decide(made, under(mode, { rules: undefined })).answer,
    ),
  )
  expect(answers).toEqual([
    ['deny', 'allow'],
    ['ask', 'ask'],
    ['ask', 'ask'],
  ])
})

test.each<[title: string, made: Claim, offers: readonly string[]]>([
  ['a file', claim('write', { paths: ['src/a.ts'] }), ['file src/a.ts', 'folder src']],
  ['a link', claim('write', { paths: ['l', 'src/a.ts'] }), ['file src/a.ts', 'folder src']],
  ['a file at the top', claim('write', { paths: ['a.ts'] }), ['file a.ts', 'folder .']],
  ['a protected path', claim('write', { paths: ['AGENTS.md'] }), []],
  ['the network', claim('run', { command: 'npm test', network: true }), []],
  ['npm test', claim('run', { command: 'npm test -- -u' }), ['command', 'prefix npm test']],
  [
    'a script',
    claim('run', { command: 'npm run lint:all' }),
    ['command', 'prefix npm run lint:all'],
  ],
  [
    'a pipe to a filter',
    claim('run', { command: 'make all | tail' }),
    ['command', 'prefix make all'],
  ],
  ['a program file', claim('run', { command: 'node a.js 1' }), ['command', 'prefix node a.js']],
  ['a module', claim('run', { command: 'python -m x y' }), ['command', 'prefix python -m x']],
  ['an option', claim('run', { command: 'tsc --noEmit' }), ['command', 'prefix tsc']],
  ...[
    'node -e 1',
    'nice npm test',
    'sh x.sh',
    'sudo make',
    'xargs rm',
    'npm exec x',
    'git -c a=b x',
    'a && b',
    'npm test > x',
    'A=1 npm test',
    'npm test $(x)',
    'rm -rf x',
    'npm',
    'python',
  ].map((command): [string, Claim, string[]] => [command, claim('run', { command }), ['command']]),
])('offers the rules that an approval of %s may create', (_title, made, offers) => {
  const offered = decide(made, under('ask')).offers.map(({ rule }) => {
    if (rule.kind === 'prefix') return `prefix ${rule.words.join(' ')}`
    return 'path' in rule ? `${rule.kind} ${rule.path}` : rule.kind
  })
  expect(offered).toEqual(offers)
})

test('a prefix can be edited if it is plain, covers the command and is not too broad', () => {
  const made = claim('run', { command: 'npm run build -- --minify' })
  const reworded = decide(made, under('ask')).offers.find(
    ({ rule }) => rule.kind === 'prefix',
  )?.reword
  const texts = ['npm run build --', 'npm run', 'npm', 'npm test', 'env', 'npm run $X', 'a; b', '']
  expect(texts.map((text) => reworded?.(text).ok)).toEqual([
    true,
    ...Array.from({ length: 7 }, () => false),
  ])
})

test.each([
  '.git/hooks/pre-commit',
  './.GIT/Hooks/x',
  'sub/module/.git/config',
  'a/../.mcp.json',
  'deep/down/agents.MD',
  '.vscode/tasks.json',
  '.agents/skills/review/SKILL.md',
  'packages/web/.claude/skills/review/scripts/run.sh',
  '.hawser/sessions/x',
  '.BASHRC',
])('%s is protected, whatever its case and whether or not it exists', (path) => {
  expect(decide(claim('write', { paths: ['fine', path] }), under('auto')).answer).toBe('ask')
})

test.each(['.gitignore', 'src/git/hooks.ts', 'my.vscode', 'AGENTS.md.txt', '.github/x'])(
  '%s is not protected',
  (path) => {
    expect(decide(claim('write', { paths: [path] }), under('auto')).answer).toBe('allow')
  },
)

test.each([
  'ls; rm x',
  'cat $(x)',
  'echo x > y',
  'git push',
  'find . -exec rm {} +',
  'sort a & rm b',
  'ls\nrm x',
  'tee a',
  '',
])('the command %j asks', (command) => {
  expect(decide(claim('run', { command }), under('ask')).answer).toBe('ask')
})

const prefix = (...words: readonly string[]): ScopedRule => ({
  rule: Rule.parse({ kind: 'prefix', answer: 'allow', words }),
  scope: 'workspace',
})

test('a command that destroys a repository asks in every mode that can write, with the reason', () => {
  for (const command of ['rm -rf .git', 'git reset --hard', "sh -c 'git push --force'"]) {
    const made = claim('run', { command })
    expect(MODES.map((mode) => decide(made, under(mode)).answer)).toEqual(['allow', 'ask', 'ask'])
    const { reason, offers } = decide(made, under('auto'))
    expect(reason).toMatch(/history|work/)
    expect(offers.map(({ rule }) => rule.kind)).toEqual(['command'])
    const { reason: both } = decide({ ...made, network: true }, under('auto'))
    expect(both).toBe(`it needs network access, and ${reason}`)
  }
})

test.each<[title: string, command: string, rules: readonly ScopedRule[], answer: string]>([
  ['a prefix', 'git reset --hard HEAD~1', [prefix('git', 'reset', '--hard')], 'allow'],
  ['a prefix for cleaning', 'git clean -fdx', [prefix('git', 'clean', '-fdx')], 'allow'],
  ['a prefix with a path', 'rm -rf .git', [prefix('rm', '-rf', '.git')], 'allow'],
  ['a prefix for each part', 'a; rm -rf .git', [prefix('rm', '-rf', '.git')], 'allow'],
  [
    'the same command',
    'find . -delete',
    [allow({ kind: 'command', command: 'find . -delete', folder: '.' })],
    'allow',
  ],
  ['a broader prefix', 'git reset --hard', [prefix('git', 'reset')], 'ask'],
  ['a prefix of a harmless form', 'git push --force', [prefix('git', 'push')], 'ask'],
  [
    'a prefix for one of two',
    'git reset --hard; rm -rf .git',
    [prefix('rm', '-rf', '.git')],
    'ask',
  ],
  ['a prefix that a wrapper hides', 'sudo rm -rf .git', [prefix('rm', '-rf', '.git')], 'ask'],
])('%s permits what it shows itself, and no more', (_, command, rules, answer) => {
  expect(decide(claim('run', { command }), under('auto', { rules })).answer).toBe(answer)
})

test('a rule that a Skill lends does not permit it, and a deny rule wins', () => {
  const made = claim('run', { command: 'git reset --hard' })
  const { rule } = prefix('git', 'reset', '--hard')
  expect(decide(made, under('auto', { rules: [{ rule, scope: 'once' }] })).answer).toBe('ask')
  const rules = [
    prefix('git', 'reset', '--hard'),
    deny({ kind: 'prefix', words: ['git', 'reset'] }),
  ]
  expect(decide(made, under('auto', { rules })).answer).toBe('deny')
})

test('an Instance discards work in its own workspace, and nothing else', () => {
  const answer = (command: string) =>
    decide(claim('run', { command }), under('auto', { instance: true })).answer
  const commands = ['git reset --hard', 'git clean -fdx', 'git reset --hard; rm -rf .git']
  expect(commands.map(answer)).toEqual(['allow', 'allow', 'ask'])
  const others = ['rm -rf .git', 'git push -f', 'git -C ../x reset --hard', 'git checkout .']
  expect(others.map(answer)).toEqual(['ask', 'ask', 'ask', 'ask'])
})

test('the stricter of two modes applies', () => {
  expect([narrower('auto', 'ask'), narrower('read-only', 'auto'), narrower('ask', 'ask')]).toEqual([
    'ask',
    'read-only',
    'ask',
  ])
})
