import { expect, test } from 'vitest'
import { failed, ok } from '../../model/errors.ts'
import { answerOf, choicesOf, shownChoice } from './choices.ts'

const COMMAND = { kind: 'command', answer: 'allow', command: 'npm test', folder: '.' } as const
const PREFIX = { kind: 'prefix', answer: 'allow', words: ['npm', 'test'] } as const

const CHOICES = choicesOf({
  offers: [
    { rule: COMMAND, scopes: ['session'] },
    {
      rule: PREFIX,
      scopes: ['session', 'workspace'],
      reword: (text) =>
        text === ''
          ? failed('invalid_args', 'Name a command.')
          : ok({ ...PREFIX, words: text.split(' ') }),
    },
  ],
})

test('choices go from the narrowest yes to the widest, then no, each with what it means', () => {
  const field = { label: 'Allow commands that start with: ', text: 'npm test' }
  expect(CHOICES.map(shownChoice)).toEqual([
    { number: 1, text: 'Yes, once', decision: 'allowed', scope: 'once' },
    {
      number: 2,
      text: 'Yes, for this Session: this command in this folder',
      decision: 'allowed',
      scope: 'session',
      rule: COMMAND,
    },
    {
      number: 3,
      text: 'Yes, for this Session: commands that start with `npm test` …',
      decision: 'allowed',
      scope: 'session',
      rule: PREFIX,
      field,
    },
    {
      number: 4,
      text: 'Yes, for this workspace: commands that start with `npm test` …',
      decision: 'allowed',
      scope: 'workspace',
      rule: PREFIX,
      field,
    },
    {
      number: 5,
      text: 'No',
      decision: 'denied',
      scope: 'once',
      field: { label: 'Reason for the model (optional): ', text: '' },
    },
  ])
})

test('each choice is an answer; its text narrows a rule or gives a reason', () => {
  const [once, command, , prefix, no] = CHOICES
  if (!once || !command || !prefix || !no) throw new Error('a choice is missing')
  const yes = { isAllowed: true, by: 'person' }
  expect(answerOf(once, '')).toEqual({ ...yes, scope: 'once' })
  expect(answerOf(command, '')).toEqual({ ...yes, scope: 'session', rule: COMMAND })
  expect(answerOf(prefix, 'npm')).toEqual({
    ...yes,
    scope: 'workspace',
    rule: { ...PREFIX, words: ['npm'] },
  })
  expect(answerOf(prefix, '')).toBe('Name a command.')
  const denied = { isAllowed: false, scope: 'once', by: 'person' }
  expect(answerOf(no, '')).toEqual(denied)
  expect(answerOf(no, ' not now ')).toEqual({ ...denied, reason: 'not now' })
})

test('a lasting yes without text grants the rule as it was offered', () => {
  const granted = (at: number) => {
    const choice = CHOICES[at - 1]
    return choice === undefined ? undefined : answerOf(choice, undefined)
  }
  expect(granted(3)).toEqual({ isAllowed: true, scope: 'session', by: 'person', rule: PREFIX })
  expect(granted(5)).toEqual({ isAllowed: false, scope: 'once', by: 'person' })
})
