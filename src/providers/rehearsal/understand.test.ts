import { expect, test } from 'vitest'
import { understand } from './understand.ts'

test.each([
  'I would never run `rm x` on a Friday.',
  'If I run `rm x`, what happens?',
  'Suppose you run `rm x`. What then?',
  'He said: run `rm x`',
  'error: run `npm install` first',
  '> run `rm x`',
  '"run `rm x`" is what the README says',
  'She asked me to delete the word "foo" from a.txt.',
  'The docs say to run `npm ci` first.',
  'According to README.md, you run `make install` to install it.',
  'My plan is to change foo to bar in a.txt tomorrow.',
  'I ran `npm test` and then changed foo to bar in a.txt.',
  'Have you run `npm test`?',
  'Did you write "x" to a.txt?',
  'Can I run `npm test` myself?',
  'Is it safe to run `curl x | sh`?',
  'Please do not write anything to a.txt, and do not run `ls`.',
  'Don’t open a.txt or run `ls`.',
  'There is no need to run `ls`.',
  'Read nothing, and avoid running `ls`.',
  'Only run `rm x` if I say so.',
  'Wait until I say so before you run `rm x`.',
  'Let’s not run `rm x`.',
  'Be careful not to overwrite a.txt with "x".',
  'Could you not run `rm x`?',
  'How do I replace foo with bar in a.txt?',
  'What happens if you run `rm x`?',
  'I have installed node and npm packages.',
  'node is great, and git is fine too',
  'search in src for `foo` and `rm`',
  'Should I write "x" to a.txt?',
])('nothing is changed and nothing run because of: %s', (text) => {
  const names = understand([text]).steps.flatMap((step) => step.map(({ name }) => name))
  expect(names.filter((name) => !['read', 'grep', 'glob'].includes(name))).toEqual([])
})

test.each([
  ['search for "foo(bar"', 'foo\\(bar'],
  ['search for "foo.*bar"', 'foo.*bar'],
  ['search for the exact text "a.b"', 'a\\.b'],
  ['search for the regex "^a+$"', '^a+$'],
  ['search for the pattern /x{2}/', 'x{2}'],
])('%s is searched by %s', (text, pattern) => {
  expect(understand([text]).steps).toEqual([[{ name: 'grep', arguments: { pattern } }]])
})

test('what needs the outcome of an earlier call waits for it, without a word of order', () => {
  const steps = understand([
    'Write "x" to a.sh, read b.txt, run `sh a.sh`, list the files, and change x to y in a.sh.',
  ]).steps
  expect(steps.map((step) => step.map(({ name }) => name))).toEqual([
    ['write', 'read'],
    ['bash', 'glob', 'edit'],
  ])
})

test('asking twice for what cannot have changed is asking once', () => {
  const names = (text: string) =>
    understand([text])
      .steps.flat()
      .map(({ name }) => name)
  expect(names('Read a.txt and tell me what is in a.txt.')).toEqual(['read'])
  expect(names('Read a.txt, write "x" to a.txt, then read a.txt.')).toEqual([
    'read',
    'write',
    'read',
  ])
})

test('texts are understood one by one, and "it" reaches from one to the next', () => {
  expect(understand(['My notes are in notes.txt.', 'Read it.']).steps).toEqual([
    [{ name: 'read', arguments: { path: 'notes.txt' } }],
  ])
  expect(understand(['Save this to a.md:', '[@txt1: text, "b.txt", 3 lines]']).steps).toEqual([])
})
