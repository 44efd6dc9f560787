import { expect, test } from 'vitest'
import type { Question } from '../../../session/questions/session-questions.ts'
import { proposalOf, questionTitle } from './proposal.ts'

function rowsOf(changes: Partial<Question>): string[] {
  const question: Question = {
    request_id: 'req_1',
    call_id: 'c1',
    subject: 'hydration',
    tool: 'hydrate_context',
    effect: 'run',
    paths: [],
    reason: 'it is not known to only read',
    choices: [],
    ...changes,
  }
  const rows = [...questionTitle(question, 80), ...proposalOf(question, 80)]
  return rows.map((row) => row.map(({ text }) => text).join(''))
}

const SOURCE = { skill: 'review', from: '<repo>/.agents/skills, trusted', context_source_id: 'log' }

test('[SH-031] a question about a hydration shows the Skill, where it comes from, the source and every argument', () => {
  const argv = ['git', 'log', '; rm -rf ~', 'a b', '\u001b[2J']
  expect(rowsOf({ hydration: { ...SOURCE, argv } })).toEqual([
    '? Fetch context log for Skill review?',
    '  Reason for asking: it is not known to only read.',
    '  review is from <repo>/.agents/skills, trusted',
    String.raw`  runs "git" "log" "; rm -rf ~" "a b" "\u001b[2J"`,
  ])
})

test('a question about a file shows its path', () => {
  expect(rowsOf({ effect: 'read', paths: ['docs/guide.md'], hydration: SOURCE }).at(-1)).toBe(
    '  reads "docs/guide.md"',
  )
})

test('a question about a call with the network says so', () => {
  const call = { tool: 'bash', arguments: '{"command":"npm ci"}', network: true }
  expect(rowsOf({ ...call, reason: 'it runs a program' })).toEqual([
    '? bash npm ci',
    '  Reason for asking: it runs a program, with the network.',
    '  $ npm ci',
  ])
})

test('a question about no call shows its own title and every path', () => {
  const asked = { call_id: undefined, tool: 'Move files aside', effect: 'write' } as const
  expect(rowsOf({ ...asked, paths: ['.envrc', 'a\u202eb'] })).toEqual([
    '? Move files aside',
    '  Reason for asking: it is not known to only read.',
    '  .envrc',
    '  a\\u{202e}b',
  ])
})

test('a question about a write that changes nothing says so', () => {
  const call = {
    tool: 'write',
    effect: 'write',
    arguments: '{"path":"x","content":"same"}',
  } as const
  expect(rowsOf({ ...call, paths: ['x'], diff: '' }).at(-1)).toBe(
    '  The content of the file stays the same.',
  )
})
