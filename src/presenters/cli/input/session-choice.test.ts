import { expect, test } from 'vitest'
import { oneSession, type SessionOptions } from './session-choice.ts'

const NONE: SessionOptions = {
  session: undefined,
  continue: false,
  resume: undefined,
  provider: undefined,
  model: undefined,
  mode: undefined,
  permission: undefined,
  effort: undefined,
  appendInstructions: [],
}

test.each(['provider', 'model'] as const)('an empty --%s is refused by its name', (option) => {
  expect(oneSession({ ...NONE, [option]: '' })).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', message: `--${option} requires a name.` },
  })
})

test('--resume with an id continues that Session', () => {
  expect(oneSession({ ...NONE, resume: 'latest' })).toMatchObject({
    ok: true,
    value: { session: 'latest' },
  })
})

test('only one of the options that choose a Session may be passed', () => {
  expect(oneSession({ ...NONE, session: 'latest', continue: true })).toMatchObject({
    error: { kind: 'invalid_args' },
  })
})
