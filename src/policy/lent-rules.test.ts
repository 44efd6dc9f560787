import { expect, test } from 'vitest'
import type { PermissionMode } from '../model/modes.ts'
import type { AppliedRule } from '../model/rule.ts'
import type { Claim } from './claim.ts'
import { decide } from './decide.ts'
import { lentRules } from './lent-rules.ts'

function lent(...allowed_tools: readonly string[]) {
  return lentRules([{ trust: 'user', allowed_tools }]).map(({ rule, scope }) => {
    const { answer, ...what } = rule
    expect([answer, scope]).toEqual(['allow', 'once'])
    return what
  })
}

test.each([
  ['Bash(git diff:*)', [{ kind: 'prefix', words: ['git', 'diff'] }]],
  ['bash(git diff *)', [{ kind: 'prefix', words: ['git', 'diff'] }]],
  ['Bash(npm run test:unit:*)', [{ kind: 'prefix', words: ['npm', 'run', 'test:unit'] }]],
  ['Bash(make check)', [{ kind: 'command', command: 'make check', folder: '.' }]],
  ['Write(notes.md)', [{ kind: 'file', path: 'notes.md' }]],
  ['Edit(./docs/a.md)', [{ kind: 'file', path: 'docs/a.md' }]],
  ['Edit(docs/**)', [{ kind: 'folder', path: 'docs' }]],
  // Reading needs no permission.
  ['Read', []],
  ['Grep', []],
  ['Glob(src/**)', []],
  // As broad as a whole tool, or as a program that starts any other.
  ['Bash', []],
  ['Bash()', []],
  ['Bash(*)', []],
  ['Bash(:*)', []],
  ['Bash( *)', []],
  ['Bash(git:*)', []],
  ['Bash(bash:*)', []],
  ['Bash(env *)', []],
  ['Bash(node:*)', []],
  ['Bash(sudo make:*)', []],
  ['Write', []],
  ['Write(**)', []],
  ['Write(./**)', []],
  ['Write(.)', []],
  // Not a rule: characters, patterns and texts with operators.
  ['Bash(git diff*)', []],
  ['Bash(ls *.ts)', []],
  ['Bash(git diff $X:*)', []],
  ['Bash(git diff; rm:*)', []],
  ['Bash(git diff | tee a:*)', []],
  ['Edit(docs/*)', []],
  ['Edit(**/*.md)', []],
  ['Edit(docs/{a,b}.md)', []],
  // Outside the workspace.
  ['Write(/etc/hosts)', []],
  ['Write(~/.ssh/config)', []],
  ['Write(../a)', []],
  ['Write(docs/../../a/**)', []],
  ['Write(C:/a)', []],
  [String.raw`Write(..\a)`, []],
  // Unknown tools.
  ['WebFetch(domain:example.org)', []],
  ['constructor(a)', []],
  ['', []],
])('%s lends this', (entry, expected) => {
  expect(lent(entry)).toEqual(expected)
})

test('only Skills of the person, or trusted by the person, lend anything', () => {
  const allowed_tools = ['Write(a)']
  const from = (trust: string) => lentRules([{ trust, allowed_tools }]).length
  expect(['user', 'trusted', 'untrusted', ''].map(from)).toEqual([1, 1, 0, 0])
  expect(lentRules([{ trust: 'user' }])).toEqual([])
})

const LENT = lentRules([
  { trust: 'trusted', allowed_tools: ['Bash(make:*)', 'Bash(git commit:*)', 'Write(docs/**)'] },
])

function answerTo(claim: Partial<Claim>, mode: PermissionMode, more: readonly AppliedRule[] = []) {
  const whole = { tool: 't', effect: 'run', paths: [], network: false, ...claim } as const
  return decide(whole, { mode, isConfined: true, rules: [...more, ...LENT] }).answer
}

test.each<[string, Partial<Claim>, string]>([
  ['a command', { command: 'make all' }, 'allow'],
  ['another command', { command: 'cmake all' }, 'ask'],
  ['a command with another', { command: 'make all; rm a' }, 'ask'],
  ['a command with the network', { command: 'make all', network: true }, 'ask'],
  ['a file', { effect: 'write', paths: ['docs/a.md'] }, 'allow'],
  ['a link out of the folder', { effect: 'write', paths: ['docs/a.md', 'src/a.md'] }, 'ask'],
  ['a protected file', { effect: 'write', paths: ['docs/AGENTS.md'] }, 'ask'],
  [
    'a file that git reads',
    {
      effect: 'write',
      paths: ['docs/hooks'],
      gitReads: [{ path: 'docs/hooks', reason: 'hooks' }],
    },
    'ask',
  ],
])('a lent rule decides about %s as one of the person does', (_, claim, expected) => {
  expect(answerTo(claim, 'ask')).toBe(expected)
})

test('a lent rule changes nothing in a read-only Session, and deny rules win', () => {
  const write = { effect: 'write', paths: ['docs/a.md'] } as const
  expect(answerTo(write, 'read-only')).toBe('deny')
  const run = { tool: 't', effect: 'run', paths: [], network: false, command: 'make' } as const
  const decided = decide(run, { mode: 'read-only', isConfined: true, rules: LENT })
  expect([decided.answer, decided.writable, decided.by]).toEqual(['allow', 'nothing', undefined])
  const denied: AppliedRule[] = [
    { rule: { kind: 'prefix', answer: 'deny', words: ['make'] }, scope: 'workspace' },
    { rule: { kind: 'folder', answer: 'deny', path: 'docs' }, scope: 'session' },
  ]
  expect(answerTo({ command: 'make all' }, 'ask', denied)).toBe('deny')
  expect(answerTo(write, 'ask', denied)).toBe('deny')
})
