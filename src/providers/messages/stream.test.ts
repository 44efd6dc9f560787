import { expect, test } from 'vitest'
import { random } from '../../../test/support/host/random.ts'
import { eventErrors } from '../../../test/support/providers/vendor-schemas.ts'
import { ServerSentEvents } from '../../encoding/server-sent-events.ts'
import type { ProviderEvent } from '../provider.ts'
import { messagesReader } from './stream.ts'

type Event = Readonly<Record<string, unknown>>

const UNUSED = { server_tool_use: null, output_tokens_details: null }
const USAGE = {
  ...UNUSED,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 0 },
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 1024,
  inference_geo: 'eu',
  input_tokens: 76,
  output_tokens: 1,
  service_tier: 'standard',
  speed: null,
}
const NAMES = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x' }
const NOTHING = { container: null, diagnostics: null }
const NO_END = { stop_reason: null, stop_details: null, stop_sequence: null }
/** An event as the vendor sends it, including fields that are not read. */
const MESSAGE = { ...NAMES, ...NO_END, ...NOTHING, content: [], usage: USAGE }
const START = { type: 'message_start', message: MESSAGE }
const STOP = { type: 'message_stop' }
const PING = { type: 'ping' }

const TEXT = { type: 'text', text: '', citations: null }
const HIDDEN = { type: 'redacted_thinking', data: 'aGlkZGVu' }
const THOUGHT = { type: 'thinking', thinking: '', signature: '' }

function begin(index: number, content_block: Event): Event {
  return { type: 'content_block_start', index, content_block }
}

function call(index: number, id: string, more: Event = {}): Event {
  const block = { type: 'tool_use', id, name: 'read', input: {}, caller: { type: 'direct' } }
  return begin(index, { ...block, ...more })
}

function delta(index: number, type: string, more: Event): Event {
  return { type: 'content_block_delta', index, delta: { type: `${type}_delta`, ...more } }
}

function words(index: number, text: string): Event {
  return delta(index, 'text', { text })
}

function json(index: number, partial_json: string): Event {
  return delta(index, 'input_json', { partial_json })
}

function end(index: number): Event {
  return { type: 'content_block_stop', index }
}

function stopped(stop_reason: string | null, more: Event = {}): Event {
  const cache = { cache_creation_input_tokens: null, cache_read_input_tokens: 1024 }
  const output = { output_tokens: 80, output_tokens_details: { thinking_tokens: 64 } }
  const usage = { ...UNUSED, ...cache, input_tokens: null, ...output }
  const why = { stop_reason, stop_sequence: null, stop_details: null, container: null, ...more }
  return { type: 'message_delta', delta: why, usage }
}

/** Reasoning, hidden reasoning, text and two calls. */
const WHOLE = [
  START,
  begin(0, THOUGHT),
  PING,
  delta(0, 'thinking', { thinking: 'First.' }),
  delta(0, 'thinking', { thinking: ' Then.' }),
  delta(0, 'signature', { signature: 'c2ln' }),
  end(0),
  begin(1, HIDDEN),
  end(1),
  begin(2, TEXT),
  words(2, ''),
  words(2, 'I “look”'),
  words(2, ' 🌊.'),
  end(2),
  call(3, 'toolu_1'),
  json(3, ''),
  json(3, '{ "path":'),
  json(3, ' "a"}'),
  end(3),
  call(4, 'toolu_2'),
  end(4),
  stopped('tool_use'),
  STOP,
]

const RAW = {
  id: 'msg_1',
  model: 'claude-x',
  ephemeral_5m_input_tokens: 100,
  ephemeral_1h_input_tokens: 0,
  inference_geo: 'eu',
  service_tier: 'standard',
}
const USED = { input: 1200, cached_read: 1024, cache_write: 100, output: 80, reasoning: 64 }
const DONE: ProviderEvent = { type: 'done', stop_reason: 'tool_use', usage: USED, raw: RAW }

function reasoned(item: Event): ProviderEvent {
  return { type: 'item', item: { kind: 'reasoning', item } }
}

function called(call_id: string, text: string): ProviderEvent {
  return { type: 'item', item: { kind: 'tool_call', call_id, name: 'read', arguments: text } }
}

const WHOLE_EVENTS: ProviderEvent[] = [
  { type: 'reasoning_delta', text: 'First.' },
  { type: 'reasoning_delta', text: ' Then.' },
  reasoned({ type: 'thinking', thinking: 'First. Then.', signature: 'c2ln' }),
  reasoned(HIDDEN),
  { type: 'text_delta', text: 'I “look”' },
  { type: 'text_delta', text: ' 🌊.' },
  { type: 'item', item: { kind: 'text', text: 'I “look” 🌊.' } },
  called('toolu_1', '{ "path": "a"}'),
  called('toolu_2', '{}'),
  DONE,
]

function read(events: readonly Event[]): ProviderEvent[] {
  const reader = messagesReader()
  return events.flatMap((event) => [...reader.take(framed(event))])
}

function framed(event: Event) {
  return { event: 'message', data: JSON.stringify(event) }
}

/** An event, with only the kind of an error. */
function kinds(events: readonly ProviderEvent[]): unknown[] {
  return events.map((event) => (event.type === 'error' ? event.error.kind : event.type))
}

test('reasoning, text and calls are returned when complete, and the end with its usage', () => {
  expect(read(WHOLE)).toEqual(WHOLE_EVENTS)
})

test('the events in these tests are valid for the vendor, by the types of its SDK', () => {
  const details = { type: 'refusal', category: 'cyber', explanation: 'No.' }
  const others = [stopped('refusal', { stop_details: details }), stopped('max_tokens')]
  for (const event of [...WHOLE, ...others].filter((one) => one !== PING)) {
    expect(eventErrors('messages', event)).toEqual([])
  }
})

const BYTES = Buffer.from(
  WHOLE.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
)

test('the same bytes give the same events, however the stream is chunked', () => {
  const framer = new ServerSentEvents()
  const reader = messagesReader()
  const events = [...BYTES].flatMap((byte) =>
    framer.push(Uint8Array.of(byte)).flatMap((event) => [...reader.take(event)]),
  )
  expect(events).toEqual(WHOLE_EVENTS)
})

test('the initial content of a block counts', () => {
  const events = [
    START,
    begin(0, { ...THOUGHT, thinking: 'Hm.', signature: 'c2ln' }),
    end(0),
    begin(1, { ...TEXT, text: 'I ' }),
    words(1, 'look.'),
    end(1),
    call(2, 'toolu_1', { input: { path: 'a' } }),
    end(2),
    stopped('tool_use'),
    STOP,
  ]
  expect(read(events)).toEqual([
    { type: 'reasoning_delta', text: 'Hm.' },
    reasoned({ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }),
    { type: 'text_delta', text: 'I ' },
    { type: 'text_delta', text: 'look.' },
    { type: 'item', item: { kind: 'text', text: 'I look.' } },
    called('toolu_1', '{"path":"a"}'),
    DONE,
  ])
})

test('hidden thinking is kept for its signature, and empty content is not returned', () => {
  const signed = [begin(0, THOUGHT), delta(0, 'signature', { signature: 'c2ln' }), end(0)]
  const empty = [begin(1, TEXT), end(1), begin(2, THOUGHT), end(2)]
  expect(read([START, ...signed, ...empty, stopped('end_turn'), STOP])).toEqual([
    reasoned({ type: 'thinking', thinking: '', signature: 'c2ln' }),
    { ...DONE, stop_reason: 'end_turn' },
  ])
})

test('unknown events, blocks, deltas and fields are skipped', () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
  const events = [
    { ...START, later: 1 },
    { type: 'message_later', index: 7 },
    begin(0, search),
    json(0, '{"query":"x"}'),
    end(0),
    begin(1, found),
    end(1),
    begin(3, { ...TEXT, later: 1 }),
    words(3, 'a'),
    delta(3, 'citations', { citation: {} }),
    delta(3, 'later', { text: 'b' }),
    end(3),
    stopped(null),
    stopped('end_turn'),
    STOP,
  ]
  expect(read(events)).toEqual([
    { type: 'text_delta', text: 'a' },
    { type: 'item', item: { kind: 'text', text: 'a' } },
    { ...DONE, stop_reason: 'end_turn' },
  ])
})

test('a refusal is an error with the explanation of the vendor', () => {
  const explanation = 'Because. '.repeat(100)
  const stop_details = { type: 'refusal', category: 'cyber', explanation }
  const begun = [START, begin(0, TEXT), words(0, 'I'), end(0)]
  const error = { kind: 'refused', message: expect.any(String), next_actions: [] }
  expect(read([...begun, stopped('refusal', { stop_details }), STOP]).at(-1)).toEqual({
    type: 'error',
    error: {
      ...error,
      details: {
        reason: 'refusal',
        category: 'cyber',
        explanation: expect.stringMatching(/^Because\. .{400,}…$/),
      },
    },
  })
  expect(read([START, stopped('refusal'), STOP])).toEqual([
    { type: 'error', error: { ...error, details: { reason: 'refusal' } } },
  ])
})

test('an error keeps its kind wherever it arrives, and a full window is an error', () => {
  const full = [START, stopped('model_context_window_exceeded')]
  expect(kinds(read(full))).toEqual(['context_overflow'])
  const kindOf = (event: Event, after: readonly Event[] = WHOLE.slice(0, 5)) =>
    kinds(read([...after, { type: 'error', ...event }])).at(-1)
  expect(kindOf({ error: { type: 'overloaded_error', message: 'Later.' } })).toBe('overloaded')
  expect(kindOf({ error: { type: 'rate_limit_error', message: '' } }, [])).toBe('rate_limited')
  expect(kindOf({ error: { type: 'invalid_request_error', message: 'prompt is too long' } })).toBe(
    'context_overflow',
  )
  expect(kindOf({})).toBe('invalid_response')
})

test('a call that may be incomplete is not returned from an answer that was cut off', () => {
  const before = [START, begin(0, TEXT), words(0, 'I lo'), end(0)]
  const beforeCut = [
    { type: 'text_delta', text: 'I lo' },
    { type: 'item', item: { kind: 'text', text: 'I lo' } },
  ]
  for (const stop_reason of ['max_tokens', 'stop_sequence', 'later']) {
    const over = [stopped(stop_reason), STOP]
    const done = expect.objectContaining({ type: 'done', stop_reason })
    expect(read([...before, ...over])).toEqual([...beforeCut, done])
    for (const half of ['', '{"pa', '{"path":"a"']) {
      const cut = [call(1, 'toolu_1'), json(1, half), end(1)]
      expect(read([...before, ...cut, ...over])).toEqual([...beforeCut, done])
    }
    const whole = [call(1, 'toolu_1'), json(1, '{"path":"a"}'), end(1)]
    const item = called('toolu_1', '{"path":"a"}')
    expect(read([...before, ...whole, ...over])).toEqual([...beforeCut, item, done])
  }
})

test('arguments that are not JSON are kept as written, and items stay in order', () => {
  const calls = [
    call(0, 'toolu_1'),
    json(0, '{"path": a}'),
    end(0),
    call(1, 'toolu_2'),
    json(1, '{}'),
    end(1),
    call(2, 'toolu_3'),
    json(2, '[]'),
    end(2),
  ]
  const first = [called('toolu_1', '{"path": a}'), called('toolu_2', '{}')]
  expect(read([START, ...calls])).toEqual([])
  expect(read([START, ...calls, stopped('tool_use'), STOP])).toEqual([
    ...first,
    called('toolu_3', '[]'),
    DONE,
  ])
  expect(read([START, ...calls, stopped('max_tokens'), STOP])).toEqual([
    ...first,
    { ...DONE, stop_reason: 'max_tokens', cut: { reason: 'output_limit', lost_calls: 1 } },
  ])
})

test('missing usage figures are zero, and later ones replace earlier ones', () => {
  const none = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0 }
  const bare = { type: 'message_delta', delta: { stop_reason: 'end_turn' } }
  const nameless = { type: 'message_start', message: { id: 'x'.repeat(999) } }
  expect(read([nameless, bare, STOP])).toEqual([
    { type: 'done', stop_reason: 'end_turn', usage: none, raw: {} },
  ])
  const usage = { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 0 }
  expect(read([START, { ...bare, usage }, STOP])).toEqual([
    {
      ...DONE,
      stop_reason: 'end_turn',
      usage: { ...none, input: 103, cache_write: 100, output: 2 },
    },
  ])
})

const BEGUN = [START, begin(0, TEXT), words(0, 'a')]

test.each<[string, readonly Event[]]>([
  ['no message_start', [begin(0, TEXT)]],
  ['a second beginning', [START, START]],
  ['a block that begins twice', [...BEGUN, begin(0, TEXT)]],
  ['a block inside another', [...BEGUN, begin(1, TEXT)]],
  ['a block before one that has ended', [START, begin(1, TEXT), end(1), begin(0, TEXT)]],
  ['a block behind the end', [START, stopped('end_turn'), begin(0, TEXT)]],
  ['a delta without a block', [START, words(0, 'a')]],
  ['a delta for a block that ended', [...BEGUN, end(0), words(0, 'b')]],
  ['a delta for another block', [...BEGUN, words(1, 'b')]],
  ['a delta of another type', [...BEGUN, json(0, '{}')]],
  ['text in a call', [START, call(0, 'toolu_1'), words(0, 'a')]],
  ['words in a hidden thought', [START, begin(0, HIDDEN), words(0, 'a')]],
  ['a block that ends twice', [...BEGUN, end(0), end(0)]],
  ['a call twice', [START, call(0, 'toolu_1'), end(0), call(1, 'toolu_1')]],
  ['a block left open', [...BEGUN, stopped('end_turn')]],
  ['an end without a reason', [...BEGUN, end(0), STOP]],
  ['a null for a reason', [START, stopped(null), STOP]],
  ['two reasons', [START, stopped('end_turn'), stopped('tool_use')]],
  ['an event without a type', [START, { delta: 'a' }]],
  ['a known event of another shape', [...BEGUN, { ...words(0, 'b'), index: '0' }]],
  ['a known delta of another shape', [...BEGUN, delta(0, 'text', { text: 7 })]],
  ['a block of another shape', [START, begin(0, { type: 'tool_use', name: 'read' })]],
  ['a call without a bottom', [START, call(0, 'toolu_1', { input: { deep: nested(1000) } })]],
])('%s is an invalid answer', (_, events) => {
  expect(kinds(read(events)).at(-1)).toBe('invalid_response')
  expect(kinds(read(events)).filter((kind) => kind === 'done')).toEqual([])
})

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth))
}

test('input that is not JSON is an error, and nothing is returned after the end of an answer', () => {
  const reader = messagesReader()
  expect(kinds(reader.take({ event: 'message', data: '{' }))).toEqual(['invalid_response'])
  expect(reader.take(framed(START))).toEqual([])
  expect(read([...WHOLE, ...WHOLE])).toEqual(WHOLE_EVENTS)
})

test('a corrupted stream never throws, ends at most once, and on completion has returned what it showed', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const events = read(tampered(seed))
    const ends = events.filter(({ type }) => type === 'done' || type === 'error')
    expect(ends.length).toBeLessThanOrEqual(1)
    expect(ends.length === 0 || ends[0] === events.at(-1)).toBe(true)
    const items = events.flatMap((event) => (event.type === 'item' ? [event.item] : []))
    const calls = items.flatMap((item) => (item.kind === 'tool_call' ? [item.call_id] : []))
    expect(calls).toEqual([...new Set(calls)])
    const shown = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []))
    const texts = items.flatMap((item) => (item.kind === 'text' ? [item.text] : []))
    if (ends[0]?.type === 'done') expect(texts.join('')).toBe(shown.join(''))
  }
})

/** Drops, duplicates, moves or renames events, or changes their fields. */
function tampered(seed: number): Event[] {
  const chance = random(seed)
  const events: Event[] = [...WHOLE]
  for (let change = chance.below(4); change >= 0; change -= 1) {
    const at = chance.below(events.length)
    const event = events[at] ?? {}
    const there = chance.below(events.length)
    const ways = [
      () => events.splice(at, 1),
      () => events.splice(there, 0, event),
      () => events.splice(there, 0, ...events.splice(at, 1)),
      () => events.splice(at, 1, { ...event, index: chance.below(5) }),
      () => events.splice(at, 1, { ...event, type: events[there]?.['type'] }),
      () => events.splice(at, 1, { ...event, delta: chance.pick([null, '', {}, 7]) }),
      () => events.splice(at, 1, { ...event, content_block: chance.pick([TEXT, THOUGHT, {}]) }),
    ]
    chance.pick(ways)()
  }
  return events
}
