import { expect, test } from 'vitest'
import type { Question } from '../../../session/questions/questions.ts'
import { proposalOf, questionTitle } from './proposal.ts'

function rowsOf(claim: Partial<Question['claim']>): string[] {
  const question: Question = {
    call_id: 'c1',
    claim: { tool: 'hydrate_context', effect: 'run', paths: [], network: false, ...claim },
    reason: 'it is not known to only read',
    offers: [],
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
