import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EphemeralEvent, EventDraft, WholeEvent } from '../../../model/events/event.ts'
import { lineWidth, paintLine, type Line } from '../text/cell-width.ts'
import { activityRows, pulseLine } from './activity-rows.ts'
import { SessionView } from './session-view.ts'
import { translate } from './translate.ts'

const TURN = 'trn_01kg8m2q3r4s5t6v7w8x9y0z12'
const USAGE = { input: 2000, cached_read: 500, cache_write: 0, output: 30, reasoning: 0, calls: 1 }

/** Events of one Turn, a second apart. */
function turnOf(...drafts: EventDraft[]): WholeEvent[] {
  return drafts.map(
    (draft, seq) =>
      ({
        ...draft,
        seq,
        turn_id: TURN,
        ts: `2026-01-31T12:00:0${seq}.000Z`,
      }) as unknown as WholeEvent,
  )
}

const started: EventDraft = { type: 'turn_started', data: { source: { presenter: 'cli' } } }

const forSummary: EventDraft = {
  type: 'turn_started',
  data: { source: { presenter: 'cli' }, purpose: 'summary' },
}

function messageRecorded(text: string, more: object = {}): EventDraft {
  return { type: 'user_message', data: { text, prompt_mode: 'string', ...more } }
}

function called(name: string, args: object): EventDraft {
  return { type: 'tool_call', data: { call_id: 'c1', name, arguments: JSON.stringify(args) } }
}

function result(name: string, more: object): EventDraft {
  const data = { call_id: 'c1', name, outcome: 'ok', output: '', duration_ms: 1, ...more }
  return { type: 'tool_result', data } as EventDraft
}

function ended(more: object): EventDraft {
  return { type: 'turn_ended', data: { usage_total: USAGE, ...more } } as EventDraft
}

const CLOCK = { monotonicMs: () => 1_000 }

/** What the live region shows of the activity, without the spinner. */
function live({ activity }: SessionView): string[] {
  const setting = { columns: 40, nowMs: 1_000, isStill: true, hasQuestion: false }
  const pulse = pulseLine(activity, setting)
  return words([...activityRows(activity, setting), ...(pulse === undefined ? [] : [pulse])])
}

const delta = (text: string) => ({ type: 'text_delta', data: { text } }) as EphemeralEvent

const words = (rows: readonly Line[]) => rows.map((row) => row.map(({ text }) => text).join(''))

/** The rows that the last of these Events adds. */
function shown(...drafts: EventDraft[]): string[] {
  const events = turnOf(...drafts)
  const last = events.at(-1)
  return last === undefined ? [] : words(translate(last, events, 60))
}

test.each([
  ['a message', [messageRecorded('one\ntwo')], ['', '> one', '  two']],
  [
    'the instruction for a summary',
    [forSummary, messageRecorded('Write a summary.')],
    ['Asking the model to summarise the Session.'],
  ],
  ['a word to the Turn', [messageRecorded('one', { steer: true })], ['↳ steering: one']],
  [
    'a file that was read',
    [called('read', { path: 'a.txt' }), result('read', { output: '1 a\n2 b\n' })],
    ['● read a.txt · 2 lines'],
  ],
  [
    'a created file',
    [called('write', { path: 'a.txt', content: 'x' }), result('write', { after_blob: 'b' })],
    ['● write a.txt · created'],
  ],
  [
    'a file that was changed',
    [
      called('edit', { path: 'a.txt' }),
      result('edit', {
        before_blob: 'a',
        after_blob: 'b',
        output: 'Edited a.txt: 1 replacement, +1 -1 lines (line 1).\n',
        diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n',
      }),
    ],
    ['● edit a.txt · changed', '  1 - old', '  1 + new'],
  ],
  [
    'a file that was changed, in a Log of an older version',
    [
      called('edit', { path: 'a.txt' }),
      result('edit', {
        before_blob: 'a',
        after_blob: 'b',
        output: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n',
      }),
    ],
    ['● edit a.txt · changed', '  1 - old', '  1 + new'],
  ],
  [
    'a command and its output',
    [
      called('bash', { command: 'make\nmake test' }),
      result('bash', { output: 'ok\n[exit code 0]\n' }),
    ],
    ['● bash make …', '  ok'],
  ],
  [
    'a command that failed',
    [
      called('bash', { command: 'make' }),
      result('bash', { outcome: 'failed', exit_code: 2, output: 'no rule\n[exit code 2]\n' }),
    ],
    ['✗ bash make · failed, exit code 2', '  no rule'],
  ],
  [
    'a command that failed, in a Log of an older version',
    [called('bash', { command: 'false' }), result('bash', { output: '[exit code 1]\n' })],
    ['✗ bash false · failed, exit code 1'],
  ],
  [
    'a call that was denied',
    [
      called('write', { path: 'a' }),
      result('write', { outcome: 'denied', error: { kind: 'permission_denied', message: 'No.' } }),
    ],
    ['✗ write a · denied', '  No.'],
  ],
  [
    'a call that a crash cut off',
    [called('bash', { command: 'make' }), result('bash', { outcome: 'unknown' })],
    ['? bash make · unknown whether it ran'],
  ],
  [
    'a call of a tool with other arguments',
    [called('other', { n: 1, what: 'this' }), result('other', {})],
    ['● other this'],
  ],
  [
    'the end of a Turn, and what it took',
    [started, ended({ status: 'completed' })],
    ['2,000 tokens in (25 % cached) · 30 out · 1.0 s'],
  ],
  [
    'a Turn that failed, and what to do',
    [
      started,
      ended({
        status: 'failed',
        error: {
          kind: 'auth',
          message: 'No key.',
          next_actions: [{ action: 'Set it:', command: 'x' }],
        },
      }),
    ],
    ['✗ No key.', '  Set it: x', '2,000 tokens in (25 % cached) · 30 out · 1.0 s'],
  ],
  [
    'a Turn that a crash cut off',
    [started, ended({ status: 'interrupted', crash_recovered: true })],
    [
      'This Turn was cut off by a crash. It is not run again.',
      '2,000 tokens in (25 % cached) · 30 out · 1.0 s',
    ],
  ],
  [
    'a message that was too late for its Turn',
    [started, messageRecorded('wait', { steer: true }), ended({ status: 'completed' })],
    [
      'Too late for this Turn: the model receives it with your next',
      'message.',
      '2,000 tokens in (25 % cached) · 30 out · 2.0 s',
    ],
  ],
] as const)('%s is shown', (_title, drafts, rows) => {
  expect(shown(...drafts)).toEqual(rows)
})

test('long output shows its first and last lines, a long diff and a long message their first', () => {
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`)
  const output = shown(
    called('bash', { command: 'x' }),
    result('bash', { output: lines.join('\n') }),
  )
  expect([output.length, output[1], output[9], output.at(-1)]).toEqual([
    14,
    '  line 0',
    '  [… 88 more lines · Ctrl-O]',
    '  line 99',
  ])
  expect(shown(messageRecorded(lines.join('\n'))).at(-1)).toBe('  [… 80 more lines · Ctrl-O]')
})

const EVIL = '\u001b[2J\u001b]0;x\u0007\u009b5n\u202e\r日本語'

test.each([
  messageRecorded(EVIL),
  messageRecorded(EVIL, { steer: true }),
  { type: 'assistant_message', data: { text: `# ${EVIL}\n\n- ${EVIL}` } },
  result(EVIL, { outcome: 'failed', error: { kind: 'internal', message: EVIL } }),
  result('bash', { output: EVIL }),
  {
    type: 'reasoning',
    data: { dialect: 'messages', model: 'm', item: { thinking: EVIL } },
  },
  { type: 'session_settings', data: { title: EVIL, model: EVIL } },
  { type: 'notice', data: { code: 'x', text: EVIL } },
  { type: 'log_repaired', data: { cut_bytes: 1, kept_as: EVIL } },
  ended({
    status: 'failed',
    error: { kind: 'internal', message: EVIL, next_actions: [{ action: EVIL }] },
  }),
] as EventDraft[])(
  'outside text in $type fits the terminal and contains no escape sequence',
  (draft) => {
    const events = turnOf(called(EVIL, { [EVIL]: EVIL, path: EVIL }), draft)
    const event = events.at(-1)
    if (event === undefined) throw new Error('there is one')
    const rows = translate(event, events, 24)
    expect(rows.filter((row) => lineWidth(row) > 24)).toEqual([])
    const text = rows.map((row) => paintLine(row, false)).join('')
    expect(text).toContain('u{1b}')
    expect(text).not.toMatch(/\p{Cc}|\p{Cf}/u)
  },
)

const MARKDOWN = 'One *two* three.\n\n- a\n- b\n\n```ts\nconst x = 1\n```\n\nLast **words** of it.'

test('an answer gives the same rows, however it was chunked and whether it was streamed or read', () => {
  const [event] = turnOf({ type: 'assistant_message', data: { text: MARKDOWN } })
  if (event === undefined) throw new Error('there is one')
  const whole = translate(event, [event], 30)
  fc.assert(
    fc.property(fc.array(fc.nat(MARKDOWN.length)), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b)]
      const view = new SessionView(30, CLOCK)
      const streamed = places.flatMap((from, at) =>
        view.notice(delta(MARKDOWN.slice(from, places[at + 1] ?? from))),
      )
      expect([...streamed, ...view.take(event, [event])]).toEqual(whole)
      expect(view.open()).toEqual([])
    }),
  )
})

test('final rows of an answer are not returned again after a resize', () => {
  const view = new SessionView(80, CLOCK)
  const first = words(view.notice(delta('One.\n\nTwo.\n\nThree is a longer paragraph ')))
  view.resize(20)
  expect([first, words(view.open())]).toEqual([
    ['', 'One.'],
    ['', 'Two.', '', 'Three is a longer', 'paragraph'],
  ])
  const [event] = turnOf({
    type: 'assistant_message',
    data: { text: 'One.\n\nTwo.\n\nThree is a longer paragraph here.' },
  })
  if (event === undefined) throw new Error('there is one')
  expect(words(view.take(event, [event]))).toEqual([
    '',
    'Two.',
    '',
    'Three is a longer',
    'paragraph here.',
  ])
})

test('running activity is shown until it ends', () => {
  const view = new SessionView(40, CLOCK)
  const events = turnOf(
    started,
    called('bash', { command: 'make' }),
    result('bash', { output: 'done\n' }),
    messageRecorded('faster', { steer: true }),
    ended({ status: 'interrupted' }),
  )
  const take = (at: number) => {
    const event = events[at]
    if (event !== undefined) view.take(event, events.slice(0, at + 1))
    return live(view)
  }
  take(0)
  view.notice({ type: 'reasoning_delta', data: { text: 'hm' } } as EphemeralEvent)
  expect(live(view)).toEqual(['  hm', '… thinking'])
  expect(take(1)).toEqual(['… bash make', '… running bash'])
  for (const text of ['com', 'piling\nlink', 'ing\n']) {
    view.notice({ type: 'tool_progress', data: { call_id: 'c1', text } } as EphemeralEvent)
  }
  expect(live(view)).toEqual(['… bash make', '  compiling', '  linking', '… running bash'])
  const data = { call_id: 'c1', text: 'It tries the network.\n', notice: true }
  view.notice({ type: 'tool_progress', data } as EphemeralEvent)
  view.notice({ type: 'tool_progress', data: { call_id: 'c1', text: 'wait\n' } } as EphemeralEvent)
  view.addSteering('faster')
  expect(live(view)).toEqual([
    '… bash make',
    '  It tries the network.',
    '  compiling',
    '  linking',
    '  wait',
    '↳ steering: faster',
    '… running bash',
  ])
  expect(take(2)).toEqual(['↳ steering: faster', '… thinking'])
  expect(take(3)).toEqual(['… thinking'])
  view.notice(delta('I was say'))
  expect(take(4)).toEqual([])
  expect(view.open()).toEqual([])
})

test('thinking is above the answer that it led to, once, whether it was streamed or read from the Log', () => {
  const item = { type: 'thinking', thinking: 'Four berths.\n\nTwo ships.', signature: 's' }
  const events = turnOf(
    started,
    { type: 'reasoning', data: { dialect: 'messages', model: 'm', item } },
    { type: 'assistant_message', data: { text: 'Two berths are free.\n\nI look\nagain.' } },
    called('read', { path: 'a' }),
  )
  const read = new SessionView(40, CLOCK)
  const recorded = (view: SessionView) =>
    events.flatMap((event, at) => view.take(event, events.slice(0, at + 1)))
  const expected = words(recorded(read))
  expect(expected.slice(-4)).toEqual(['', 'Two berths are free.', '', 'I look again.'])
  const streamed = new SessionView(40, CLOCK)
  const arrived = ['Four berths.\n', '\nTwo ships.'].flatMap((text) =>
    streamed.notice({ type: 'reasoning_delta', data: { text } } as EphemeralEvent),
  )
  const answered = ['Two berths', ' are free.\n\nI look\n', 'again.'].flatMap((text) =>
    streamed.notice(delta(text)),
  )
  expect(words([...arrived, ...answered, ...recorded(streamed)])).toEqual(expected)
})

test('a plan is printed once, when the Turn ends, and its calls print nothing', () => {
  const entry = (content: string, status: string) => ({ content, status })
  const planned = (status: string): EventDraft[] => [
    called('update_plan', { entries: [] }),
    { type: 'plan_updated', data: { entries: [entry('Count the berths', status)] } } as EventDraft,
    result('update_plan', { output: 'The plan has 1 entry.\n' }),
  ]
  const events = turnOf(
    started,
    ...planned('in_progress'),
    ...planned('completed'),
    ended({ status: 'completed' }),
  )
  const view = new SessionView(60, CLOCK)
  const rows = events.flatMap((event, at) => view.take(event, events.slice(0, at + 1)))
  expect(words(rows).slice(0, -1)).toEqual(['', '[x] Count the berths'])
  const failure = result('update_plan', { outcome: 'failed', output: 'too long' })
  expect(shown(called('update_plan', {}), failure)).toEqual([
    '✗ update_plan · failed',
    '  too long',
  ])
})

test('an answer that restarts or differs from its stream is marked as incomplete', () => {
  const view = new SessionView(40, CLOCK)
  view.notice(delta('First try'))
  const restarted = view.notice({
    type: 'stream_restarted',
    data: { reason: 'x' },
  } as EphemeralEvent)
  expect(words(restarted)).toEqual(['', 'First try', '[The response ends here, incomplete.]'])
  view.notice(delta('Second'))
  const [event] = turnOf({ type: 'assistant_message', data: { text: 'Other', partial: true } })
  if (event === undefined) throw new Error('there is one')
  expect(words(view.take(event, [event]))).toEqual([
    '',
    'Second',
    '[The response ends here, incomplete.]',
    '',
    'Other',
    '[The response ends here, incomplete.]',
  ])
})

test('a truncated answer is reported with how to get the rest', () => {
  const cut = { reason: 'output_limit', stop_reason: 'max_tokens', lost_calls: 1 }
  const events = turnOf(started, ended({ status: 'completed', cut }))
  const rows = events.flatMap((event) => translate(event, events, 200))
  expect(words(rows)[0]).toBe(
    'The answer is incomplete: the model reached its output limit (max_tokens). 1 tool call was cut off and did not run. To get the rest, send: Continue.',
  )
})
