import { expect, test } from 'vitest'
import type { Segment, SegmentRole } from '../../model/segment.ts'
import { sendingOf } from './continuation.ts'
import { frame } from './encode.ts'

const framing = { cacheKey: 'key', marks: [] }

function segment(role: SegmentRole, text: string, seq: number): Segment {
  const bytes = Buffer.from(text)
  return { role, bytes, length: bytes.length, seq, lifetime: 'stable' }
}

const SEGMENTS = [
  segment('params', '"model":"m","stream":true,"store":false', -1),
  segment('system', 'Be kind.', -1),
  segment('user', '{"type":"input_text","text":"one"}', 3),
  segment('reasoning', '{"type":"reasoning","id":"rs"}', 5),
  segment('tool_call', '{"type":"function_call","call_id":"c"}', 6),
  segment('tool_result', '{"type":"function_call_output","call_id":"c"}', 8),
]

const REQUEST = {
  session: 'ses',
  body: frame(SEGMENTS, framing),
  sha256: 'now',
  segments: SEGMENTS,
  last: { sha256: 'before', count: 3 },
  framing,
}

const KNOWN = { responseId: 'resp_1', sha256: 'before' }

function sent(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString('utf8'))
}

test('what the server has, and its own answer, are not sent again', () => {
  const { bytes, reset } = sendingOf(REQUEST, KNOWN, 'no_previous_response')
  expect([reset, sent(bytes)]).toEqual([
    undefined,
    {
      type: 'response.create',
      previous_response_id: 'resp_1',
      model: 'm',
      store: false,
      prompt_cache_key: 'key',
      instructions: 'Be kind.',
      input: [{ type: 'function_call_output', call_id: 'c' }],
    },
  ])
})

test('where nothing is remembered, all is sent, for the reason that is known', () => {
  const { bytes, reset } = sendingOf(REQUEST, undefined, 'reconnected')
  expect(reset).toBe('reconnected')
  const whole: unknown = JSON.parse(REQUEST.body.toString('utf8'))
  expect(sent(bytes)).toEqual({ ...Object(whole), type: 'response.create', stream: undefined })
})

test.each([
  ['model', 'model_changed'],
  ['dialect', 'model_changed'],
  ['checkpoint', 'compaction'],
  ['undo', 'compaction'],
  ['transient_retired', 'transient_retired'],
  ['drop', 'transient_retired'],
  ['quarantine', 'transient_retired'],
  ['surface', 'prefix_mismatch'],
  ['params', 'prefix_mismatch'],
  ['unknown', 'prefix_mismatch'],
])('a request that %s broke is sent whole: %s', (brokenBy, reason) => {
  const { bytes, reset } = sendingOf({ ...REQUEST, brokenBy }, KNOWN, 'reconnected')
  expect([reset, bytes.includes('previous_response_id')]).toEqual([reason, false])
})

test('a server that remembers another request than the last is told everything', () => {
  const known = { ...KNOWN, sha256: 'of another process' }
  expect(sendingOf(REQUEST, known, 'reconnected').reset).toBe('prefix_mismatch')
  const { last: _last, ...first } = REQUEST
  expect(sendingOf(first, KNOWN, 'reconnected').reset).toBe('prefix_mismatch')
})
