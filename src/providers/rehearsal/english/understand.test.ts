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
])('nothing is changed or run for: %s', (text) => {
  const names = understand([text]).groups.flatMap((group) => group.map(({ name }) => name))
  expect(names.filter((name) => !['read', 'grep', 'glob'].includes(name))).toEqual([])
})

test.each([
  ['search for "foo(bar"', 'foo\\(bar'],
  ['search for "foo.*bar"', 'foo.*bar'],
])('%s searches for the pattern %s', (text, pattern) => {
  expect(understand([text]).groups).toEqual([[{ name: 'grep', arguments: { pattern } }]])
})

test.each([
  ['Search the history for "tide".', { query: 'tide' }],
  ['Please search this session for tide', { query: 'tide' }],
  ['Look through the conversation for the word tide', { query: 'tide' }],
  ['search the history for the pattern `t[io]de`', { query: 't[io]de', regex: true }],
  ['Search turn 3 for "the harbour code"', { query: 'the harbour code', turn: 3 }],
  ['find "tide" in the history', { query: 'tide' }],
  ['Read Event 57', { seq: 57 }],
  ['show me event 57 from character 4000', { seq: 57, offset: 4000 }],
])('"%s" searches the Session', (text, args) => {
  expect(understand([text]).groups).toEqual([[{ name: 'history_search', arguments: args }]])
})

test.each([
  ['Use the skill review.', 'skill_view', { name: 'review' }],
  ['activate skill `review`', 'skill_view', { name: 'review' }],
  ['Read `notes.md` of the skill review', 'skill_view', { name: 'review', path: 'notes.md' }],
  [
    'Hydrate changes of review',
    'hydrate_context',
    { skill: 'review', context_source_id: 'changes' },
  ],
  [
    'hydrate changes for the skill review with `{"path": "a"}`',
    'hydrate_context',
    { skill: 'review', context_source_id: 'changes', args: { path: 'a' } },
  ],
])('"%s" is about a Skill', (text, name, args) => {
  expect(understand([text]).groups).toEqual([[{ name, arguments: args }]])
})

test.each([
  ['search for history in src', 'grep'],
  ['find TODO in history', 'grep'],
  ['read history.md', 'read'],
])('"%s" is about files', (text, name) => {
  expect(
    understand([text])
      .groups.flat()
      .map((call) => call.name),
  ).toEqual([name])
})

test('a call that depends on an earlier one waits for it, even without "then"', () => {
  const { groups } = understand([
    'Write "x" to a.sh, read b.txt, run `sh a.sh` and replace "x" with "y" in b.txt.',
  ])
  expect(groups.map((group) => group.map(({ name }) => name))).toEqual([
    ['write', 'read'],
    ['bash', 'edit'],
  ])
})

test('texts are read one by one, and "it" reaches from one to the next', () => {
  const read = { name: 'read', arguments: { path: 'notes.txt' } }
  expect(understand(['Write "x" to notes.txt', 'Read it.']).groups[1]).toEqual([read])
  expect(understand(['Read it.']).groups).toEqual([])
  expect(understand(['Thank you.', 'Read notes.txt']).groups).toEqual([[read]])
})

test.each([
  ['Attach chart.png', { path: 'chart.png' }],
  ['Attach chart.png to your answer', { path: 'chart.png' }],
  ['Please attach the file out/chart.png to your answer.', { path: 'out/chart.png' }],
  ['Attach chart.png with the title "The chart".', { path: 'chart.png', title: 'The chart' }],
])('"%s" attaches a file', (text, args) => {
  expect(understand([text]).groups).toEqual([[{ name: 'attach', arguments: args }]])
})

test('a file is attached after it was created', () => {
  const names = (text: string) =>
    understand([text]).groups.map((all) => all.map(({ name }) => name))
  expect(names('Write "x" to a.txt and attach it.')).toEqual([['write'], ['attach']])
  expect(names('Run `plot > a.png` and attach a.png')).toEqual([['bash'], ['attach']])
})

test.each(['I attached a picture.', 'Don’t attach chart.png', 'The attached file a.txt is mine'])(
  '"%s" attaches nothing',
  (text) => {
    expect(understand([text]).groups).toEqual([])
  },
)

test.each(['What did it say?', 'did it work', 'what was the exit code?', 'Why did it fail?'])(
  '"%s" asks about the last result',
  (text) => {
    expect(understand([text])).toEqual({ groups: [], asksLastResult: true })
  },
)

test('quoted text is written unchanged, whatever its length and content', () => {
  for (const content of ['`read` then run', 'a "b" c\n', 'x'.repeat(5_000_000)]) {
    const [[call] = []] = understand([`Write ${JSON.stringify(content)} to a.txt`]).groups
    expect(call?.arguments['content'] === content).toBe(true)
  }
})

test.each(['"', '`', '```', '“', "'", '(', '\\"', 'a/', ', then ', '1. ', '@img1 ', 'in a.ts, '])(
  'a megabyte of %j is parsed within the time limit',
  (piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
    expect(understand([text]).groups).toEqual([])
    expect(understand([`Read ${text}`]).groups.flat().length).toBeLessThan(100)
  },
  5000,
)

test.each([
  ['Use the Skill review-change.', 'skill_view', { name: 'review-change' }],
  ['activate skill "release"', 'skill_view', { name: 'release' }],
  [
    'Read docs/guide.md of the skill release',
    'skill_view',
    { name: 'release', path: 'docs/guide.md' },
  ],
  [
    'Fetch the context changes of the Skill review-change',
    'hydrate_context',
    { skill: 'review-change', context_source_id: 'changes' },
  ],
  ['hydrate todo of review', 'hydrate_context', { skill: 'review', context_source_id: 'todo' }],
])('"%s" uses a Skill', (text, name, args) => {
  expect(understand([text]).groups).toEqual([[{ name, arguments: args }]])
})
