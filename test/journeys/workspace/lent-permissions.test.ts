import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SkillRequest } from '../../../src/model/events/context-source.ts'
import type { Question } from '../../../src/session/questions/session-questions.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import { say } from '../../support/resources/sample-files.ts'
import { decisions, skillPlace } from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'

const NOTES = { allowed_tools: ['Write(notes/**)', 'Bash', 'Read'] }
const LEND: { readonly skills: readonly SkillRequest[] } = { skills: [{ name: 'notes' }] }

/** A place with a Skill that lends one folder, and the questions that a person got. */
async function lendingPlace(trust: 'user' | 'trusted' | 'untrusted' = 'trusted') {
  const asked: Question[] = []
  const ask: Ask = async (question) => {
    asked.push(question)
    return { allowed: false, scope: 'once' }
  }
  const skills = { notes: { ...NOTES, trust } }
  const place = await skillPlace('in process', skills, { changes: { person: { ask } } })
  return { ...place, asked, session: value(await place.harness.create(place.begin)) }
}

test('an active Skill lends its rule to its Turn, recorded as decided by policy, and to no other Turn', async () => {
  const { session, asked, workspace } = await lendingPlace()
  await say(session, 'write "a" to notes/a.txt', LEND)
  expect(asked).toEqual([])
  expect(decisions(session)).toEqual([
    expect.objectContaining({
      subject: 'write',
      decision: 'allowed',
      by: 'policy',
      scope: 'once',
      rule: { kind: 'folder', answer: 'allow', path: 'notes' },
    }),
  ])
  expect(await readFile(join(workspace, 'notes/a.txt'), 'utf8')).toBe('a')
  await say(session, 'write "b" to notes/b.txt')
  expect(asked).toHaveLength(1)
})

test.each([
  ['another file', 'write "a" to other.txt', 1],
  ['a protected file', 'write "a" to notes/AGENTS.md', 1],
  ['a command', 'run `touch notes/a`', 1],
])('%s asks as without a Skill', async (_, text, questions) => {
  const { session, asked } = await lendingPlace()
  await say(session, text, LEND)
  expect(asked).toHaveLength(questions)
})

test('nothing is lent in a read-only Session, in plan mode, or against a deny rule', async () => {
  const { session, asked, parts } = await lendingPlace()
  value(await session.change({ permission_mode: 'read-only' }))
  await say(session, 'write "a" to notes/a.txt', LEND)
  value(await session.change({ mode: 'plan', permission_mode: 'ask' }))
  await say(session, 'write "a" to notes/a.txt', LEND)
  value(await session.change({ mode: 'build' }))
  value(
    (await parts.person.rules?.add({ kind: 'file', answer: 'deny', path: 'notes/a.txt' })) ??
      fail(),
  )
  await say(session, 'write "a" to notes/a.txt', LEND)
  expect(asked).toEqual([])
  expect(decisions(session).map(({ decision, by, rule }) => [decision, by, rule?.answer])).toEqual([
    ['denied', 'policy', undefined],
    ['denied', 'policy', undefined],
    ['denied', 'policy', 'deny'],
  ])
})

test('a Skill that the model activates lends too, and an untrusted one lends nothing', async () => {
  const trusted = await lendingPlace()
  await say(trusted.session, 'Use the skill notes, then write "a" to notes/a.txt')
  const active = trusted.session.events.some(({ type }) => type === 'skill_activation')
  expect([active, trusted.asked]).toEqual([true, []])
  const untrusted = await lendingPlace('untrusted')
  await say(untrusted.session, 'Use the skill notes')
  expect(untrusted.session.events.some(({ type }) => type === 'skill_activation')).toBe(false)
})

function fail(): never {
  throw new Error('no store of rules')
}
