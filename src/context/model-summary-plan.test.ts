import { expect, test } from 'vitest'
import {
  plan,
  PLAN_SURFACE,
  planned,
  talk,
  writtenSession,
} from '../../test/support/pressure/planned-session.ts'
import { NOT_WRITTEN, WRITTEN, writtenSummary } from '../prompt/words/summary.ts'
import { requestBytes } from './token-estimate.ts'

const LONG = 'line of a file\n'.repeat(600)
const ASKED = { request: 'Summarise.', answer: 'Said.', purpose: 'summary' } as const
const TURNS = [...talk(8, 20_000), { rounds: [[LONG], [LONG]] }]

test('a Turn that asks for a summary changes neither the plan nor the next request', () => {
  const before = writtenSession(TURNS)
  const after = writtenSession([...TURNS, ASKED])
  const size = { surface: PLAN_SURFACE }
  expect(requestBytes(after, size)).toBe(requestBytes(before, size))
  for (const target of [9_000, 12_000, 30_000])
    expect(planned(after, { target })).toEqual(planned(before, { target }))
  const whole = planned(writtenSession(talk(1, 90_000)), { target: 5_000 })
  const asked = planned(writtenSession([...talk(1, 90_000), ASKED]), { target: 5_000 })
  expect(asked.data.summary).toBe(whole.data.summary)
  expect(asked.data.tokens_after).toBe(whole.data.tokens_after)
})

test('the text of the model replaces the excerpts at the cut that was planned', () => {
  const before = planned(writtenSession(TURNS), { target: 12_000 })
  const { from_seq } = before.data.tail
  const events = writtenSession([...TURNS, ASKED])
  const { data } = planned(events, {
    target: 12_000,
    summary: { by: 'model', from_seq, text: 'Said.' },
  })
  expect(data).toMatchObject({
    strategy: 'model-1',
    summary: writtenSummary('Said.'),
    tail: { from_seq, turns: before.data.tail.turns },
    range: before.data.range,
    carried: before.data.carried,
    state: before.data.state,
  })
  expect(data.limitations).toContain(WRITTEN)
  expect(data.tokens_after).toBeLessThanOrEqual(12_000)
})

test('a text that misses the target is not planned, and excerpts say that they replace it', () => {
  const events = writtenSession([...TURNS, ASKED])
  const { data: excerpts } = planned(events, { target: 9_000 })
  const { from_seq } = excerpts.tail
  const text = 'word '.repeat(20_000)
  expect(plan(events, { target: 9_000, summary: { by: 'model', from_seq, text } })).toMatchObject({
    compactable: false,
    reason: 'target_not_reached',
  })
  const { data } = planned(events, { target: 9_000, summary: { by: 'fallback' } })
  expect(data).toMatchObject({ strategy: 'excerpts-fallback', summary: excerpts.summary })
  expect(data.limitations).toContain(NOT_WRITTEN)
})

test('excerpts omit a Turn that asked for a summary, and count it in the numbers of later Turns', () => {
  const events = writtenSession([...TURNS, ASKED, ...talk(2, 20_000)])
  const { data } = planned(events, { target: 5_000 })
  expect(data.summary).not.toContain('Summarise.')
  expect(data.summary).toMatch(/^Turn 11: /m)
})
