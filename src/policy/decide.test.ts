import { expect, test } from 'vitest'
import type { Claim } from './claim.ts'
import { decide, narrower, type PermissionMode, type Posture } from './decide.ts'

const claim = (effect: Claim['effect'], more: Partial<Claim> = {}): Claim => ({
  tool: 'tool',
  effect,
  paths: [],
  network: false,
  ...more,
})
const under = (mode: PermissionMode, more: Partial<Posture> = {}): Posture => ({
  mode,
  confined: true,
  granted: new Set(),
  ...more,
})
const MODES = ['read-only', 'ask', 'auto'] as const

test.each([
  ['touches nothing', claim('none'), ['allow', 'allow', 'allow']],
  ['reads', claim('read', { paths: ['a'] }), ['allow', 'allow', 'allow']],
  ['writes', claim('write', { paths: ['a'] }), ['deny', 'ask', 'allow']],
  ['writes a protected path', claim('write', { paths: ['AGENTS.md'] }), ['deny', 'ask', 'ask']],
  ['only looks', claim('run', { command: 'ls -l | wc' }), ['allow', 'allow', 'allow']],
  ['runs anything', claim('run', { command: 'make' }), ['allow', 'ask', 'allow']],
  ['wants the network', claim('run', { command: 'curl x', network: true }), ['deny', 'ask', 'ask']],
] as const)('a call that %s is decided by its mode', (_title, made, answers) => {
  expect(MODES.map((mode) => decide(made, under(mode)).answer)).toEqual(answers)
})

test('without a sandbox every program is asked about, and none runs in a read-only Session', () => {
  const answers = MODES.map(
    (mode) => decide(claim('run', { command: 'ls' }), under(mode, { confined: false })).answer,
  )
  expect(answers).toEqual(['deny', 'ask', 'ask'])
})

test('a program that was not asked about can write only where its mode lets it', () => {
  const writable = (mode: PermissionMode, command: string) =>
    decide(claim('run', { command }), under(mode)).writable
  expect([
    writable('read-only', 'make'),
    writable('ask', 'cat a'),
    writable('auto', 'make'),
  ]).toEqual(['nothing', 'nothing', 'workspace'])
})

test('a yes for the Session covers calls of its kind, never a protected path or the network', () => {
  const granted = new Set(['tool:write', 'tool:run'])
  const posture = under('ask', { granted })
  expect(decide(claim('write', { paths: ['a'] }), posture).answer).toBe('allow')
  expect(decide(claim('run', { command: 'make' }), posture).answer).toBe('allow')
  expect(decide(claim('write', { paths: ['.git/hooks/x'] }), posture).answer).toBe('ask')
  expect(decide(claim('run', { command: 'x', network: true }), posture).answer).toBe('ask')
})

test.each([
  '.git/hooks/pre-commit',
  './.GIT/Hooks/x',
  'sub/module/.git/config',
  'a/../.mcp.json',
  'deep/down/agents.MD',
  '.vscode/tasks.json',
  '.hawser/sessions/x',
  '.BASHRC',
])('%s is protected, whatever its case and whether it is there or not', (path) => {
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
])('the command %j is asked about', (command) => {
  expect(decide(claim('run', { command }), under('ask')).answer).toBe('ask')
})

test('the narrower of two modes counts', () => {
  expect([narrower('auto', 'ask'), narrower('read-only', 'auto'), narrower('ask', 'ask')]).toEqual([
    'ask',
    'read-only',
    'ask',
  ])
})
