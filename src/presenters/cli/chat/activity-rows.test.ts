import { expect, test } from 'vitest'
import { queueRows } from './commands/message-queue.ts'
import type { EphemeralEvent, EventData, WholeEvent } from '../../../model/events/event.ts'
import { lineWidth, paintLine, type Line } from '../text/cell-width.ts'
import { planRows } from '../screen/plan-rows.ts'
import { activityRows, duration, pulseLine } from './activity-rows.ts'
import { TurnActivity } from './turn-activity.ts'

const words = (rows: readonly Line[]) => rows.map((row) => row.map(({ text }) => text).join(''))

/** A Turn that began at 1 s, and what happened in it. */
function activity(...seen: { readonly type: string; readonly data?: object }[]): TurnActivity {
  const running = new TurnActivity({ monotonicMs: () => 1_000 })
  running.take({ type: 'turn_started', data: {} } as WholeEvent)
  for (const one of seen) {
    if (/delta|progress|^status$/.test(one.type)) running.notice(one as EphemeralEvent)
    else running.take(one as WholeEvent)
  }
  return running
}

function pulse(running: TurnActivity, nowMs: number, more: object = {}): string {
  const setting = { nowMs, isStill: false, hasQuestion: false, ...more }
  return words([pulseLine(running.facts, setting) ?? []])[0] ?? ''
}

const request = { type: 'provider_request', data: {} }
const retry = { attempt: 2, of: 5, delay_ms: 8_000, kind: 'rate_limited' }

test('the pulse says what is waited for, how long the Turn runs, and how many tokens came', () => {
  const usage = { type: 'provider_usage', data: { usage: { output: 1_200 } } }
  expect([
    pulse(activity(), 2_000),
    pulse(activity(request), 13_400),
    pulse(activity(request, { type: 'text_delta', data: { text: 'x'.repeat(40) } }), 2_000),
    pulse(activity(request, usage, request), 126_000),
    pulse(activity(request, { type: 'status', data: { text: 'x', retry } }), 3_500),
    pulse(activity(request), 9_000, { hasQuestion: true }),
  ]).toEqual([
    '',
    '⠙ waiting for the model · 12 s',
    '⠦ answering · 1 s · ~10 tokens',
    '⠋ waiting for the model · 2 min 5 s · 1.2k tokens',
    '⠏ retry 2 of 5 in 6 s (rate limited) · 2 s',
    '? waiting for you',
  ])
})

test('without movement, the line changes only when something happens', () => {
  const running = activity(request, { type: 'status', data: { text: 'x', retry } })
  const still = (nowMs: number) => pulse(running, nowMs, { isStill: true })
  expect([still(2_000), still(5_000)]).toEqual(
    Array(2).fill('… retry 2 of 5 in 8 s (rate limited)'),
  )
})

test('a running command shows its time and its last five lines', () => {
  const call = {
    type: 'tool_call',
    data: { call_id: 'c', name: 'bash', arguments: '{"command":"make"}' },
  }
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at}`)
  const output = { type: 'tool_progress', data: { call_id: 'c', text: lines.join('\n') } }
  const rows = activityRows(activity(call, output).facts, { columns: 40, nowMs: 4_000 })
  expect(words(rows)).toEqual([
    '… bash make · 3 s',
    ...['line 4', 'line 5', 'line 6', 'line 7', 'line 8'].map((line) => `  ${line}`),
  ])
})

test('a long plan leaves out finished steps first, and outside text stays in its row', () => {
  const entries = [
    ...Array.from({ length: 6 }, (_, at) => ({ content: `done ${at}`, status: 'completed' })),
    { content: 'now \u001b[2J', status: 'in_progress' },
    { content: 'a step whose text is longer than the row', status: 'pending' },
    { content: 'last', status: 'pending' },
  ] as EventData<'plan_updated'>['entries']
  const rows = planRows(entries, 24, 2)
  expect(words(rows)).toEqual([
    '[>] now \\u{1b}[2J',
    '[ ] a step whose text i…',
    '[… 6 done, 1 more]',
  ])
  expect(rows.every((row) => lineWidth(row) <= 24)).toBe(true)
  expect(paintLine(rows[0] ?? [], false)).not.toContain('\u001b')
  expect(planRows(entries, 60).length).toBe(9)
})

test('a duration in words', () => {
  expect([duration(-5), duration(59_999), duration(61_000)]).toEqual(['0 s', '59 s', '1 min 1 s'])
})

test('a row that does not fit ends with an ellipsis, and a hint leaves out whole parts', () => {
  const texts = ['a message that is longer than a narrow terminal']
  expect(words(queueRows({ texts, isHeld: true }, 40))).toEqual([
    '1 queued message held',
    '  1. a message that is longer than a na…',
  ])
  expect(words(queueRows({ texts, isHeld: false }, 60))).toEqual([
    'Queued for after this Turn · Alt-Up edits the last',
    '  1. a message that is longer than a narrow terminal',
  ])
})

test('the time of a call begins when the person allows it', () => {
  let now = 0
  const running = new TurnActivity({ monotonicMs: () => now })
  const call = { call_id: 'c1', name: 'bash', arguments: '{"command":"make"}' }
  for (const [at, event] of [
    { type: 'turn_started', data: {} },
    { type: 'tool_call', data: call },
    { type: 'permission_decision', data: { call_id: 'c1', subject: 'bash', by: 'person' } },
  ].entries()) {
    now = at * 60_000
    running.take(event as WholeEvent)
  }
  const rows = activityRows(running.facts, { columns: 40, nowMs: now + 2_000 })
  expect(words(rows)).toEqual(['… bash make · 2 s'])
})
