import { expect, test } from 'vitest'
import { sampleDescriptor, wholeEvents } from '../../../test/support/history/sample-resources.ts'
import type { EventDraft } from '../../model/events/event.ts'
import { TurnId } from '../../model/ids.ts'
import { turnCost, turnResult } from './turn-result.ts'

const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')
const OTHER = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z13')
const USAGE = { input: 9, cached_read: 4, cache_write: 0, output: 3, reasoning: 0, calls: 2 }
const chart = sampleDescriptor('@img7')

const started = (turn_id: TurnId): EventDraft => ({
  type: 'turn_started',
  turn_id,
  data: { source: { presenter: 'cli' } },
})
const answered = (turn_id: TurnId, text: string): EventDraft => ({
  type: 'assistant_message',
  turn_id,
  data: { text },
})
const wrote = (path: string): EventDraft => ({
  type: 'tool_result',
  turn_id: TURN,
  data: {
    call_id: 'c1',
    name: 'bash',
    outcome: 'ok',
    output: '',
    duration_ms: 1,
    runs_later: [path],
  },
})
const ended = (turn_id: TurnId, data: object = {}): EventDraft => ({
  type: 'turn_ended',
  turn_id,
  data: { status: 'completed', usage_total: USAGE, ...data },
})

test('a result contains the answer after the last call, the attachments, and the usage', () => {
  const events = wholeEvents([
    started(OTHER),
    answered(OTHER, 'An older answer.'),
    ended(OTHER),
    started(TURN),
    answered(TURN, 'I look.'),
    wrote('.github/workflows/ci.yml'),
    { type: 'resource_ingested', turn_id: TURN, data: { descriptor: chart, origin: 'egress' } },
    answered(TURN, 'One.'),
    answered(TURN, 'Two.'),
    ended(TURN),
  ])
  expect(turnResult(events, TURN)).toEqual({
    turn_id: TURN,
    status: 'completed',
    text: 'One.\nTwo.',
    resources: [chart],
    usage: USAGE,
    runs_later: [{ path: '.github/workflows/ci.yml', reason: expect.any(String) }],
    notices: [{ code: 'runs_later', text: expect.stringContaining('ci.yml') as string }],
    denied: 0,
  })
})

test('Events after the end of a Turn do not change its result', () => {
  const own = [started(TURN), answered(TURN, 'Mine.'), ended(TURN)]
  const next = [started(OTHER), answered(OTHER, 'Another.'), ended(OTHER, { status: 'failed' })]
  expect(turnResult(wholeEvents([...own, ...next]), TURN)).toEqual(
    turnResult(wholeEvents(own), TURN),
  )
})

test('a failed Turn keeps its error, and one without an end is failed without usage', () => {
  const error = { kind: 'auth', message: 'The key was refused.' } as const
  const failed = wholeEvents([started(TURN), ended(TURN, { status: 'failed', error })])
  expect(turnResult(failed, TURN)).toMatchObject({ status: 'failed', error, text: '' })
  const cut = turnResult(wholeEvents([started(TURN), answered(TURN, 'Half')]), TURN)
  expect(cut).toMatchObject({ status: 'failed', text: 'Half', usage: { input: 0, calls: 0 } })
})

test('only calls without a user to ask count as denied', () => {
  const decided = (by: 'policy' | 'nobody'): EventDraft => ({
    type: 'permission_decision',
    turn_id: TURN,
    data: {
      subject: 'bash',
      args_sha256: 'ab'.repeat(32),
      mode: 'ask',
      decision: 'denied',
      scope: 'once',
      by,
    },
  })
  const events = [started(TURN), decided('policy'), decided('nobody'), ended(TURN)]
  expect(turnResult(wholeEvents(events), TURN).denied).toBe(1)
})

test('a Turn has a cost only if each of its calls has one', () => {
  const call = (cost_usd?: number): EventDraft => ({
    type: 'provider_usage',
    turn_id: TURN,
    data: {
      call_index: 0,
      usage: { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 },
      latency_ms: 1,
      pressure: 'unavailable',
      stop_reason: 'end_turn',
      ...(cost_usd === undefined ? {} : { cost_usd }),
    },
  })
  expect(turnCost(wholeEvents([]))).toBeUndefined()
  expect(turnCost(wholeEvents([call(0.25), call(0.5)]))).toBe(0.75)
  expect(turnCost(wholeEvents([call(0.25), call()]))).toBeUndefined()
})
