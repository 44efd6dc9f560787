import { expect, test } from 'vitest'
import { BreakCause, type ResetReason } from '../../model/prefix-break.ts'
import type { Segment, SegmentRole } from '../../model/segment.ts'
import { sendingOf } from './continuation.ts'
import { buildBody } from './encode.ts'

const bodyOptions = { cacheKey: 'key', marks: [] }

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
  body: buildBody(SEGMENTS, bodyOptions),
  sha256: 'now',
  segments: SEGMENTS,
  last: { sha256: 'before', count: 3 },
  bodyOptions,
}

const KNOWN = { responseId: 'resp_1', sha256: 'before' }

function sent(pieces: readonly Buffer[]): unknown {
  return JSON.parse(Buffer.concat(pieces).toString('utf8'))
}

test('items that the server has, and its own answer, are not sent again', () => {
  const { pieces, reset } = sendingOf(REQUEST, KNOWN, 'no_previous_response')
  expect([reset, sent(pieces)]).toEqual([
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

test('if nothing is remembered, everything is sent, with the known reason', () => {
  const { pieces, reset } = sendingOf(REQUEST, undefined, 'reconnected')
  expect(reset).toBe('reconnected')
  const whole: unknown = JSON.parse(REQUEST.body.toString('utf8'))
  expect(sent(pieces)).toEqual({ ...Object(whole), type: 'response.create', stream: undefined })
})

const REASONS: readonly (readonly [BreakCause, ResetReason])[] = [
  ['surface', 'surface_changed'],
  ['params', 'params_changed'],
  ['model', 'model_changed'],
  ['dialect', 'dialect_changed'],
  ['checkpoint', 'compaction'],
  ['undo', 'compaction_undone'],
  ['transient_retired', 'transient_retired'],
  ['quarantine', 'resource_quarantined'],
  ['drop', 'resource_dropped'],
  ['payload_missing', 'payload_missing'],
  ['fork', 'forked'],
  ['unknown', 'prefix_mismatch'],
]

test('every cause of a break has its own reset reason', () => {
  expect(REASONS.map(([cause]) => cause)).toEqual(BreakCause.options)
  expect(new Set(REASONS.map(([, reason]) => reason)).size).toBe(BreakCause.options.length)
})

test.each(REASONS)('a request with a break by %s is sent completely: %s', (brokenBy, reason) => {
  const { pieces, reset } = sendingOf({ ...REQUEST, brokenBy }, KNOWN, 'reconnected')
  expect([reset, Buffer.concat(pieces).includes('previous_response_id')]).toEqual([reason, false])
})

test('a server that remembers another request than the last one gets everything', () => {
  const known = { ...KNOWN, sha256: 'of another process' }
  expect(sendingOf(REQUEST, known, 'reconnected').reset).toBe('prefix_mismatch')
  const { last: _last, ...first } = REQUEST
  expect(sendingOf(first, KNOWN, 'reconnected').reset).toBe('prefix_mismatch')
})

test.each([3, 4, 5, 6, 7, 8])(
  'the rest after %i segments that the server has is framed like a body of the others',
  (count) => {
    const more = [
      ...SEGMENTS,
      segment('user', '{"type":"input_text","text":"two"}', 9),
      segment('user', '{"type":"input_text","text":"three"}', 9),
      segment('assistant', '{"type":"message"}', 10),
    ]
    const request = { ...REQUEST, segments: more, body: buildBody(more, bodyOptions) }
    const last = { ...REQUEST.last, count }
    const { pieces } = sendingOf({ ...request, last }, KNOWN, 'reconnected')
    const answered = more.findIndex(({ role }, at) => at >= count && !ANSWERS.has(role))
    const fresh = answered === -1 ? [] : more.slice(answered)
    const whole: unknown = JSON.parse(
      buildBody([...more.slice(0, 2), ...fresh], bodyOptions).toString('utf8'),
    )
    expect(sent(pieces)).toEqual({
      ...Object(whole),
      type: 'response.create',
      previous_response_id: KNOWN.responseId,
      stream: undefined,
    })
    const own = pieces.filter(({ buffer }) => buffer !== request.body.buffer)
    expect(Buffer.concat(own).toString()).not.toContain('input_text')
  },
)

const ANSWERS: ReadonlySet<SegmentRole> = new Set(['reasoning', 'assistant', 'tool_call'])
