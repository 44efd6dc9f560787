import { expect, test } from 'vitest'
import { detailReads } from './error-checks.ts'

const inSource = (text: string) => detailReads(new Map([['src/turn/planted.ts', text]]))

test.each([
  "if (error.details['again'] === true) retry()",
  'if (error.details.again === true) retry()',
  "const state = read.error?.details?.['state']",
  "const state = (error.details as Facts)['state']",
  "const state = error.details!['state']",
  "const state = (error.details ?? {})['state']",
  "const state = error['details']['state']",
  'const { state } = error.details',
  'const { state, ...rest } = error.details ?? {}',
  'const { details: { state } } = error',
  'const { details: { state } = {} } = error',
  "const { kind, details } = error\nconst damaged = details['state'] === 'damaged'",
  "const { details: facts } = error\nconst damaged = facts['state'] === 'damaged'",
  "const facts = error.details\nconst damaged = facts['state'] === 'damaged'",
  'const facts = error.details\nconst { state } = facts',
  'let state\n;({ state } = error.details)',
  'function codeOf({ kind, details: { code } }: HawserError) {\n  return code\n}',
  "function codeOf({ details }: HawserError) {\n  return details['code']\n}",
  "const codeOf = ({ details = {} }: Logged) => details['code']",
  "const codeOf = (facts: HawserError['details']) => facts['code']",
  "const codeOf = ({ code }: HawserError['details']) => code",
  "const known = 'state' in error.details",
  "const state: unknown = Reflect.get(error.details, 'state')",
  "const known = Object.hasOwn(error.details, 'state')",
])('reading one field of details is an offence: %s', (text) => {
  expect(inSource(text)).toEqual([
    expect.stringMatching(/^src\/turn\/planted\.ts:\d+ reads a field of details; give/),
  ])
})

test.each([
  'const copy = { ...error, details: { ...error.details, again: true } }',
  'const { message, details } = error\nreturnIt(failed(kind, message, { ...details, file }))',
  'print(JSON.stringify(error.details))',
  'const all = Object.entries(error.details)',
  'const { ...facts } = error.details\nprint(facts)',
  "const { incomplete_details: incomplete } = response\nconst why = incomplete['reason']",
  "const cause = causeOf(error)\nconst damaged = cause?.type === 'payload'",
])('copying or printing details as a whole is allowed: %s', (text) => {
  expect(inSource(text)).toEqual([])
})

test('the offence names its line; tests and other folders may read details', () => {
  const text = "export {}\nconst code = error.details['code']\n"
  const tree = new Map([
    ['src/presenters/cli/planted.ts', text],
    ['rehearse/src/planted.ts', text],
    ['src/turn/planted.test.ts', text],
    ['test/journeys/planted.ts', text],
  ])
  expect(detailReads(tree)).toEqual([
    'src/presenters/cli/planted.ts:2 reads a field of details; give the error a cause',
    'rehearse/src/planted.ts:2 reads a field of details; give the error a cause',
  ])
})
