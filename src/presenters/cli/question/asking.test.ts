import { expect, test } from 'vitest'
import {
  askedQuestions,
  permissionQuestion,
  TURN,
} from '../../../../test/support/session/asked-questions.ts'
import { virtualClock } from '../../../../test/support/host/virtual-clock.ts'
import { failed, ok } from '../../../model/errors.ts'
import { Asking } from './asking.ts'
import type { Key } from '../screen/keys.ts'
import { lineWidth } from '../text/cell-width.ts'

const QUESTION = permissionQuestion({
  offers: [
    {
      rule: { kind: 'command', answer: 'allow', command: 'npm test', folder: '.' },
      scopes: ['session', 'workspace'],
    },
    {
      rule: { kind: 'prefix', answer: 'allow', words: ['npm', 'test'] },
      scopes: ['session', 'workspace'],
      reword: (text) =>
        text.startsWith('npm')
          ? ok({ kind: 'prefix', answer: 'allow', words: text.split(' ') })
          : failed('invalid_args', 'It does not cover this command.'),
    },
  ],
})
const typed = (text: string): Key => ({ kind: 'text', text })
const press = (chord: string): Key => ({ kind: 'press', chord })

function open() {
  const clock = virtualClock()
  const { questions } = askedQuestions(clock, 0)
  questions.attach()
  let shownCount = 0
  const asking = new Asking(
    clock,
    () => {},
    () => {
      shownCount += 1
    },
  )
  asking.watch(questions)
  const interrupt = new AbortController()
  const ask = (more: Parameters<typeof permissionQuestion>[0] = {}) =>
    questions.ask(TURN, { ...QUESTION, ...more }, interrupt.signal)
  /** Keys of someone who types slowly. */
  const keys = (...pressed: readonly Key[]) => {
    for (const key of pressed) {
      clock.advance(1_000)
      asking.take(key)
    }
  }
  return { questions, clock, asking, interrupt, ask, keys, came: () => shownCount }
}

const textOf = (rows: readonly (readonly { readonly text: string }[])[]) =>
  rows.map((row) => row.map(({ text }) => text).join(''))
const shown = (asking: Asking, columns = 70, most = 30) => ({
  rows: textOf(asking.rows(columns, most)),
  hint: textOf([asking.hint()])[0],
})

test('a question shows the proposal and the choices, with none selected', () => {
  const { asking, clock, ask, came: shownCount } = open()
  void ask()
  expect(shown(asking)).toEqual({
    rows: [
      '? bash npm test',
      '  Reason for asking: it runs a program.',
      '  $ npm test',
      '  1  Yes, once',
      '  2  Yes, for this Session: this command in this folder',
      '  3  Yes, for this Session: commands that start with `npm test` …',
      '  4  Yes, for this workspace: this command in this folder',
      '  5  Yes, for this workspace: commands that start with `npm test` …',
      '  6  No',
    ],
    hint: 'A question …',
  })
  clock.advance(300)
  expect([shown(asking).hint, shownCount()]).toEqual([
    '↑ ↓ or 1-6 choose · Enter confirms · Esc no',
    1,
  ])
})

test.each<[title: string, keys: readonly Key[], answer: object]>([
  ['a digit and Enter', [typed('1'), press('enter')], { isAllowed: true, scope: 'once' }],
  [
    'arrows and Enter',
    [press('down'), press('down'), press('enter')],
    { isAllowed: true, scope: 'session', rule: { kind: 'command', command: 'npm test' } },
  ],
  [
    'a prefix as it is',
    [typed('5'), press('enter'), press('enter')],
    { isAllowed: true, scope: 'workspace', rule: { kind: 'prefix', words: ['npm', 'test'] } },
  ],
  [
    'a prefix that was edited',
    [typed('3'), press('enter'), typed(' '), typed('2'), press('enter')],
    { isAllowed: true, scope: 'session', rule: { kind: 'prefix', words: ['npm', 'test', '2'] } },
  ],
  ['no', [press('up'), press('enter'), press('enter')], { isAllowed: false, scope: 'once' }],
  [
    'no with a reason',
    [typed('6'), press('enter'), { kind: 'paste', text: 'use\npnpm' }, press('enter')],
    { isAllowed: false, scope: 'once', reason: 'use pnpm' },
  ],
])('%s answers', async (_title, pressed, answer) => {
  const { ask, keys, asking } = open()
  const answered = ask()
  keys(...pressed)
  expect(await answered).toMatchObject({ by: 'person', ...answer })
  expect(asking.take(typed('1'))).toBe(false)
})

test('Escape is a no, unless something follows it at once', async () => {
  const { ask, keys, clock, asking } = open()
  const answered = ask()
  keys(press('escape'))
  asking.take(typed('['))
  clock.advance(1_000)
  expect(asking.waits).toBe(true)
  keys(press('escape'))
  clock.advance(150)
  expect(await answered).toEqual({ isAllowed: false, scope: 'once', by: 'person' })
})

test.each<[title: string, keys: readonly Key[]]>([
  ['letters', [typed('y'), typed('a'), typed('n'), typed('Y')]],
  ['words and Enter', ['m', 'a', 'y', 'b', 'e'].map(typed).concat(press('enter'))],
  ['a command', ['/', 'u', 'n', 'd', 'o'].map(typed).concat(press('enter'))],
  ['Enter alone', [press('enter'), press('enter')]],
  ['a digit of no choice', [typed('7'), press('enter'), typed('0'), press('enter')]],
  ['a paste', [{ kind: 'paste', text: '1\n' }, press('enter')]],
  ['a choice, then text', [typed('1'), typed('x'), press('enter')]],
  [
    'other keys',
    [press('tab'), press('ctrl-d'), press('shift-enter'), press('ctrl-j'), press('left')],
  ],
])('%s at a question is not an answer, however slowly it is typed', (_title, pressed) => {
  const { ask, keys, asking } = open()
  void ask()
  keys(...pressed)
  expect(asking.waits).toBe(true)
})

test('keys of someone who keeps typing are ignored, for any length of time', () => {
  const { asking, clock, ask } = open()
  void ask()
  for (const text of '1 2 3 4 5 6') {
    clock.advance(299)
    expect(asking.take(typed(text))).toBe(true)
    asking.take(press('enter'))
  }
  expect([asking.waits, shown(asking).rows.some((row) => row.startsWith('❯'))]).toEqual([
    true,
    false,
  ])
})

test('Enter in the same burst as the choice confirms nothing', () => {
  const { asking, clock, ask } = open()
  void ask()
  clock.advance(300)
  asking.take(typed('1'))
  asking.take(press('enter'))
  clock.advance(99)
  asking.take(press('enter'))
  expect(asking.waits).toBe(true)
})

test('a proposal that does not fit the screen can be read page by page before it is answered', () => {
  const { ask, keys, asking } = open()
  const lines = Array.from({ length: 40 }, (_, at) => `+line ${at + 1}`)
  const diff = ['--- a/f', '+++ b/f', '@@ -0,0 +1,40 @@', ...lines, ''].join('\n')
  void ask({
    claim: { tool: 'write', effect: 'write', paths: ['f'], network: false },
    arguments: '{"path":"f","content":""}',
    diff,
    offers: [],
  })
  const seen = new Set<string>()
  for (let page = 0; page < 8; page++) {
    const { rows } = shown(asking, 60, 14)
    expect(rows.length).toBeLessThanOrEqual(14)
    expect(rows.slice(-2)).toEqual(['  1  Yes, once', '  2  No'])
    for (const row of rows) seen.add(row)
    keys(press('page-down'))
  }
  const numbered = lines.map((line, at) => `  ${String(at + 1).padStart(2)} + ${line.slice(1)}`)
  expect(numbered.filter((row) => !seen.has(row))).toEqual([])
  expect(asking.waits).toBe(true)
})

test('a change without a diff is shown as the model asked for it, in both forms of the call', () => {
  for (const [args, expected] of [
    [
      {
        edits: [
          { old_text: 'a', new_text: 'b' },
          { old_text: 'c\nd', new_text: 'e' },
        ],
      },
      ['  - a', '  + b', '  - c', '  - d', '  + e'],
    ],
    [{ old_text: 'a', new_text: 'b' }, ['  - a', '  + b']],
  ] as const) {
    const { ask, asking } = open()
    void ask({
      claim: { tool: 'edit', effect: 'write', paths: ['f'], network: false },
      arguments: JSON.stringify({ path: 'f', ...args }),
      offers: [],
    })
    expect(shown(asking).rows.slice(2, -2)).toEqual(expected)
  }
})

test('a change is shown with line numbers and the lines around it', () => {
  const { ask, asking } = open()
  const diff =
    '--- a/f\n+++ b/f\n@@ -8,3 +8,4 @@\n one\n-two\n+2\n+2b\n three\n@@ -90 +91 @@\n-x\n+y\n'
  void ask({
    claim: { tool: 'edit', effect: 'write', paths: ['l', 'f'], network: false },
    arguments: '{"path":"l"}',
    diff,
    offers: [],
  })
  expect(shown(asking).rows.slice(2, -2)).toEqual([
    '  leads to f',
    '   8   one',
    '   9 - two',
    '   9 + 2',
    '  10 + 2b',
    '  11   three',
    '   ⋮',
    '  90 - x',
    '  91 + y',
  ])
})

test('in a terminal with few rows the choice stays visible', () => {
  const { ask, keys, asking } = open()
  void ask()
  keys(typed('4'))
  for (const most of [2, 3, 4, 6, 8]) {
    const { rows } = shown(asking, 30, most)
    expect(rows.length).toBeLessThanOrEqual(Math.max(most, 2))
    if (most > 3) expect(rows.some((row) => row.startsWith('❯ 4'))).toBe(true)
  }
})

test('in a narrow terminal no row is wider than it is, so every choice stays visible', () => {
  const { ask, asking } = open()
  const lines = Array.from({ length: 60 }, (_, at) => `+line ${at}`).join('\n')
  void ask({
    claim: { tool: 'write', effect: 'write', paths: ['f'], network: false },
    arguments: '{"path":"f"}',
    diff: `--- a/f\n+++ b/f\n@@ -0,0 +1,60 @@\n${lines}\n`,
  })
  for (const columns of [20, 40, 66]) {
    const rows = asking.rows(columns, 30)
    expect(Math.max(...rows.map(lineWidth))).toBeLessThanOrEqual(columns)
    expect(rows.length).toBeLessThanOrEqual(30)
    expect(textOf(rows)).toContainEqual(expect.stringMatching(/^\s+\d {2}No$/))
  }
})

test('questions are asked in sequence, and each waits for its own keys', async () => {
  const { ask, keys, asking, clock, came: shownCount } = open()
  const answers = [ask(), ask({ about: { ...QUESTION.about, call_id: 'c2' } })]
  keys(typed('1'), press('enter'))
  // The next question has just appeared.
  asking.take(typed('1'))
  clock.advance(150)
  asking.take(press('enter'))
  expect(asking.waits).toBe(true)
  keys(typed('6'), press('enter'), press('enter'))
  expect(await Promise.all(answers)).toMatchObject([{ isAllowed: true }, { isAllowed: false }])
  expect(shownCount()).toBe(2)
})

test('a question that an interrupt or another client ended is not shown any more', async () => {
  const { asking, questions, interrupt, ask, keys } = open()
  const answered = ask()
  keys(typed('6'))
  void questions.answer('req_1', { choice: 1 })
  expect([await answered, asking.waits]).toMatchObject([{ isAllowed: true }, false])
  const interrupted = ask()
  expect(asking.waits).toBe(true)
  interrupt.abort()
  expect([await interrupted, asking.waits]).toMatchObject([{ by: 'interrupt' }, false])
})

test('text that does not fit is reported, and the question stays', async () => {
  const { asking, ask, keys } = open()
  const answered = ask()
  keys(typed('3'), press('enter'), press('ctrl-u'), typed('git'), press('enter'))
  await Promise.resolve()
  expect(shown(asking).rows.join('\n')).toContain('It does not cover this command.')
  keys(press('ctrl-u'), typed('npm'), press('enter'))
  expect(await answered).toMatchObject({ isAllowed: true, rule: { words: ['npm'] } })
})

test('a chat that goes to another Session asks its questions, and leaves the others open', () => {
  const { asking, clock, questions, ask, keys } = open()
  const other = askedQuestions(clock, 0, 'other').questions
  other.attach()
  void other.ask(
    TURN,
    permissionQuestion({ reason: 'another Session' }),
    new AbortController().signal,
  )
  void ask()
  asking.watch(other)
  expect(shown(asking).rows).toContain('  Reason for asking: another Session.')
  keys(press('escape'))
  clock.advance(1_000)
  expect([other.open.length, questions.open.length, asking.waits]).toEqual([0, 1, false])
  asking.watch(questions)
  asking.close()
  expect([asking.waits, asking.take(typed('1')), questions.open.length]).toEqual([false, false, 1])
})

test('before a Resource is sent to the model, the question shows its handle, name and size', () => {
  const { asking, ask } = open()
  const upload = {
    handle: '@img1',
    name: 'a\u202eb.png',
    kind: 'image',
    size_bytes: 12_595,
  } as const
  void ask({
    about: { ...QUESTION.about, call_id: undefined },
    claim: { tool: 'upload', effect: 'none', paths: [], network: false, upload },
    arguments: undefined,
    reason: 'images are sent only with permission',
    offers: [{ rule: { kind: 'upload', answer: 'allow' }, scopes: ['session'] }],
  })
  expect(shown(asking).rows).toEqual([
    '? Send @img1 a\\u{202e}b.png (12.3 KiB) to the model?',
    '  Reason for asking: images are sent only with permission.',
    '  1  Yes, once',
    '  2  Yes, for this Session: sending attached files to the model',
    '  3  No',
  ])
})
