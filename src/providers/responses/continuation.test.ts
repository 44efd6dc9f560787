import { expect, test } from 'vitest'
import { BreakCause, type ResetReason } from '../../model/prefix-break.ts'
import type { ConversationItem } from '../../model/conversation.ts'
import type { Surface } from '../../model/surface.ts'
import { sendingOf } from './continuation.ts'
import { buildBody, encode } from './encode.ts'

const bodyOptions = { cacheKey: 'key', marks: [] }

const SURFACE: Surface = {
  contract_version: 'hw1',
  model: 'm',
  system: ['Be kind.'],
  tools: [],
  params: { replay: 'attach-turn', late_role: 'developer', tool_choice: 'auto', limits: {} },
}

function message(kind: 'user' | 'assistant', text: string, seq: number): ConversationItem {
  return { kind, seq, parts: [{ type: 'text', text, lifetime: 'stable' }] }
}

const CALL = { call_id: 'c', name: 'read' }
const THOUGHT = { type: 'reasoning', id: 'rs', encrypted_content: 'sealed' }

/** One segment each, after the two of the surface. */
const ITEMS: readonly ConversationItem[] = [
  message('user', 'one', 3),
  { kind: 'reasoning', seq: 5, dialect: 'responses', model: 'm', item: THOUGHT },
  { kind: 'tool_call', seq: 6, ...CALL, arguments: '{}' },
  { kind: 'tool_result', seq: 8, ...CALL, outcome: 'ok', output: 'x' },
]

const SEGMENTS = encode(ITEMS, SURFACE)

const REQUEST = {
  session: 'ses',
  model: 'm',
  body: buildBody(SEGMENTS, bodyOptions),
  sha256: 'now',
  segments: SEGMENTS,
  last: { sha256: 'before', count: 3 },
  bodyOptions,
}

const KNOWN = { responseId: 'resp_1', model: 'm', sha256: 'before' }

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
      input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }],
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

test('a server whose last answer is of another model gets everything', () => {
  const known = { ...KNOWN, model: 'another' }
  expect(sendingOf(REQUEST, known, 'reconnected').reset).toBe('model_changed')
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
    const items = [
      ...ITEMS,
      message('user', 'two', 9),
      message('user', 'three', 9),
      message('assistant', 'four', 10),
    ]
    const segments = encode(items, SURFACE)
    const request = { ...REQUEST, segments, body: buildBody(segments, bodyOptions) }
    const last = { ...REQUEST.last, count }
    const { pieces } = sendingOf({ ...request, last }, KNOWN, 'reconnected')
    const answered = items.findIndex(({ kind }, at) => at + 2 >= count && !ANSWERS.has(kind))
    const fresh = answered === -1 ? [] : items.slice(answered)
    const whole: unknown = JSON.parse(
      buildBody(encode(fresh, SURFACE), bodyOptions).toString('utf8'),
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

const ANSWERS: ReadonlySet<ConversationItem['kind']> = new Set([
  'reasoning',
  'assistant',
  'tool_call',
])
