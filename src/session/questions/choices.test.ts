import { expect, test } from 'vitest'
import { failed, ok } from '../../model/errors.ts'
import { answerOf, choicesOf, choiceText, fieldOf } from './choices.ts'
import type { Question } from './questions.ts'

const COMMAND = { kind: 'command', answer: 'allow', command: 'npm test', folder: '.' } as const
const PREFIX = { kind: 'prefix', answer: 'allow', words: ['npm', 'test'] } as const

const QUESTION: Question = {
  claim: { tool: 'bash', effect: 'run', paths: ['.'], network: false },
  reason: 'it runs a program',
  offers: [
    { rule: COMMAND, scopes: ['session'] },
    {
      rule: PREFIX,
      scopes: ['session', 'workspace'],
      reworded: (text) =>
        text === ''
          ? failed('invalid_args', 'Name a command.')
          : ok({ ...PREFIX, words: text.split(' ') }),
    },
  ],
}

test('choices go from the narrowest yes to the widest, then no', () => {
  expect(choicesOf(QUESTION).map(choiceText)).toEqual([
    'Yes, once',
    'Yes, for this Session: this command in this folder',
    'Yes, for this Session: commands that start with `npm test` …',
    'Yes, for this workspace: commands that start with `npm test` …',
    'No',
  ])
})

test('each choice is an answer; words narrow a rule or give a reason', () => {
  const [once, command, , prefix, no] = choicesOf(QUESTION)
  if (!once || !command || !prefix || !no) throw new Error('a choice is missing')
  expect([once, command, prefix, no].map(fieldOf)).toEqual([
    undefined,
    undefined,
    { label: expect.any(String), text: 'npm test' },
    { label: expect.any(String), text: '' },
  ])
  const yes = { allowed: true, by: 'person' }
  expect(answerOf(once, '')).toEqual({ ...yes, scope: 'once' })
  expect(answerOf(command, '')).toEqual({ ...yes, scope: 'session', rule: COMMAND })
  expect(answerOf(prefix, 'npm')).toEqual({
    ...yes,
    scope: 'workspace',
    rule: { ...PREFIX, words: ['npm'] },
  })
  expect(answerOf(prefix, '')).toBe('Name a command.')
  expect(answerOf(no, ' not now ')).toEqual({
    allowed: false,
    scope: 'once',
    by: 'person',
    reason: 'not now',
  })
})
