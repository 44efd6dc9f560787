import { expect, onTestFinished, test, vi } from 'vitest'
import { random } from '../../../test/support/host/random.ts'
import { eventErrors } from '../../../test/support/providers/vendor-schemas.ts'
import { scriptedServer } from '../../../test/support/providers/vendor-server.ts'
import { ServerSentEvents } from '../../encoding/server-sent-events.ts'
import { systemClock } from '../../host/clock.ts'
import type { ProviderEvent } from '../provider.ts'
import { responsesProvider, responsesReader } from './stream.ts'

type Event = Readonly<Record<string, unknown>>

const USAGE = {
  input_tokens: 1200,
  input_tokens_details: { cached_tokens: 1024, cache_write_tokens: 100 },
  output_tokens: 80,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 1280,
}

const SETTINGS = {
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
}
const NOTHING = { error: null, incomplete_details: null, instructions: null, metadata: {} }
const NAMES = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'gpt-x-2026' }
/** An event as the vendor sends it, including fields that are not read. */
const RESPONSE = { ...NAMES, ...NOTHING, ...SETTINGS, status: 'in_progress', output: [] }
const RAW = { id: 'resp_1', model: 'gpt-x-2026', total_tokens: 1280 }

const CREATED = { type: 'response.created', response: RESPONSE }
const PROGRESS = { type: 'response.in_progress', response: RESPONSE }
const SUMMARY = ['First.', 'Then.'].map((text) => ({ type: 'summary_text', text }))
const THOUGHT = { type: 'reasoning', id: 'rs_1', summary: SUMMARY, encrypted_content: 'gAAA' }

function message(text: string, more: Event = {}): Event {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content, ...more }
}

function call(id: string, args: string, more: Event = {}): Event {
  const named = { id: `fc_${id}`, call_id: `call_${id}`, name: 'read' }
  return { type: 'function_call', ...named, arguments: args, status: 'completed', ...more }
}

function completed(output: readonly Event[], more: Event = {}): Event {
  const response = { ...RESPONSE, status: 'completed', output, usage: USAGE, ...more }
  return { type: 'response.completed', response }
}

function incomplete(reason: string, output: readonly Event[] = []): Event {
  const ended = { status: 'incomplete', incomplete_details: { reason }, usage: USAGE, output }
  return { type: 'response.incomplete', response: { ...RESPONSE, ...ended } }
}

function added(output_index: number, item: Event): Event {
  const begun = item['type'] === 'message' ? { content: [] } : {}
  const empty = item['type'] === 'function_call' ? { arguments: '' } : begun
  return { type: 'response.output_item.added', output_index, item: { ...item, ...empty } }
}

function done(output_index: number, item: Event): Event {
  return { type: 'response.output_item.done', output_index, item }
}

function textDelta(output_index: number, delta: string): Event {
  const at = { item_id: 'msg_1', output_index, content_index: 0 }
  return { type: 'response.output_text.delta', ...at, delta, logprobs: [] }
}

function argumentsDelta(output_index: number, delta: string): Event {
  return { type: 'response.function_call_arguments.delta', item_id: 'fc', output_index, delta }
}

function argumentsDone(output_index: number, whole: string): Event {
  const at = { item_id: 'fc', output_index, name: 'read' }
  return { type: 'response.function_call_arguments.done', ...at, arguments: whole }
}

function thoughtPart(summary_index: number, delta: string): Event[] {
  const at = { item_id: 'rs_1', output_index: 0, summary_index }
  const part = { type: 'summary_text', text: '' }
  return [
    { type: 'response.reasoning_summary_part.added', ...at, part },
    { type: 'response.reasoning_summary_text.delta', ...at, delta },
  ]
}

const WORDS = message('I “look” 🌊.', { phase: 'commentary' })
const READ = call('1', '{"path":"a"}')

/** Reasoning, text and two calls. */
const WHOLE = [
  CREATED,
  PROGRESS,
  added(0, { ...THOUGHT, summary: [] }),
  ...thoughtPart(0, 'First.'),
  ...thoughtPart(1, 'Then.'),
  done(0, THOUGHT),
  added(1, message('')),
  textDelta(1, 'I “look”'),
  textDelta(1, ' 🌊.'),
  done(1, WORDS),
  added(2, call('1', '')),
  argumentsDelta(2, '{"path":'),
  argumentsDelta(2, '"a"}'),
  argumentsDone(2, '{"path":"a"}'),
  done(2, READ),
  added(3, call('2', '')),
  done(3, call('2', '')),
  completed([THOUGHT, WORDS, READ, call('2', '')]),
]

const USED = { input: 1200, cached_read: 1024, cache_write: 100, output: 80, reasoning: 64 }
const DONE: ProviderEvent = { type: 'done', stop_reason: 'completed', usage: USED, raw: RAW }
const WHOLE_EVENTS: ProviderEvent[] = [
  { type: 'reasoning_delta', text: 'First.' },
  { type: 'reasoning_delta', text: '\n\n' },
  { type: 'reasoning_delta', text: 'Then.' },
  { type: 'item', item: { kind: 'reasoning', item: THOUGHT } },
  { type: 'text_delta', text: 'I “look”' },
  { type: 'text_delta', text: ' 🌊.' },
  { type: 'item', item: { kind: 'text', text: 'I “look” 🌊.', phase: 'commentary' } },
  called('call_1', '{"path":"a"}'),
  called('call_2', '{}'),
  DONE,
]

function called(call_id: string, text: string): ProviderEvent {
  return { type: 'item', item: { kind: 'tool_call', call_id, name: 'read', arguments: text } }
}

function numbered(events: readonly Event[]): Event[] {
  return events.map((event, index) => ({ sequence_number: index, ...event }))
}

function read(events: readonly Event[]): ProviderEvent[] {
  const reader = responsesReader()
  return numbered(events).flatMap((event) => [...reader.take(framed(event))])
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
  const others = [incomplete('max_output_tokens'), completed([message('a')])]
  for (const event of numbered([...WHOLE, ...others])) {
    expect(eventErrors('responses', event)).toEqual([])
  }
})

const BYTES = Buffer.from(
  numbered(WHOLE)
    .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(''),
)

test('the same bytes give the same events, however the stream is chunked', () => {
  const framer = new ServerSentEvents()
  const reader = responsesReader()
  const events = [...BYTES].flatMap((byte) =>
    framer.push(Uint8Array.of(byte)).flatMap((event) => [...reader.take(event)]),
  )
  expect(events).toEqual(WHOLE_EVENTS)
})

test('items that only the end contains are taken from there', () => {
  const items = WHOLE_EVENTS.filter(({ type }) => type === 'item' || type === 'done')
  expect(read([CREATED, ...WHOLE.slice(-1)])).toEqual(items)
  expect(read(WHOLE.slice(-1))).toEqual(items)
  expect(kinds(read([completed([refusal()])]))).toEqual(['refused'])
})

test('items that were never announced count, and an end need not repeat them', () => {
  const events = [done(0, message('a')), done(4, call('1', '{}')), completed([], { output: null })]
  expect(kinds(read(events))).toEqual(['item', 'item', 'done'])
})

test('an item waits for the items before it', () => {
  const events = [
    added(0, message('')),
    textDelta(0, 'a'),
    added(1, call('1', '')),
    done(1, call('1', '{}')),
    textDelta(0, 'b'),
    done(0, message('ab')),
    completed([]),
  ]
  const text = { type: 'item', item: { kind: 'text', text: 'ab' } }
  expect(read(events).slice(2)).toEqual([text, called('call_1', '{}'), DONE])
})

test('parts of one message are one text, and empty content is not returned', () => {
  const content = ['I ', 'look'].map((text) => ({ type: 'output_text', text }))
  const other = { type: 'later', value: 1 }
  const events = [
    added(0, message('')),
    textDelta(0, ''),
    done(0, message('', { content: [...content, other], phase: null })),
    done(1, message('')),
    completed([]),
  ]
  expect(read(events)).toEqual([{ type: 'item', item: { kind: 'text', text: 'I look' } }, DONE])
})

test('unknown events, items and fields are skipped', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
  const events = [
    { ...CREATED, later: 1 },
    { type: 'response.later', sequence_number: 0 },
    added(0, search),
    done(0, search),
    added(1, message('')),
    done(1, message('a', { later: 1 })),
    completed([search, message('a')]),
  ]
  expect(read(events)).toEqual([{ type: 'item', item: { kind: 'text', text: 'a' } }, DONE])
})

function refusal(): Event {
  return message('', { content: [{ type: 'refusal', refusal: 'I will not.' }] })
}

test('a refusal is an error, in whatever form it arrives', () => {
  const begun = [CREATED, added(0, message(''))]
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const delta = { type: 'response.refusal.delta', ...at, delta: 'I will not.' }
  const ended = { type: 'response.refusal.done', ...at, refusal: 'I will not.' }
  const details = { reason: 'refusal', explanation: 'I will not.' }
  const error = { kind: 'refused', message: expect.any(String), details, next_actions: [] }
  expect(read([...begun, delta, ended])).toEqual([{ type: 'error', error }])
  expect(read([...begun, delta, done(0, refusal())])).toEqual([{ type: 'error', error }])
  expect(kinds(read([...begun, incomplete('content_filter')]))).toEqual(['refused'])
})

test('an error keeps its kind, in the middle of an answer and at its end', () => {
  const kindOf = (event: Event) => kinds(read([...WHOLE.slice(0, 5), event])).at(-1)
  const flat = { code: 'rate_limit_exceeded', message: 'Slow.', param: null }
  expect(kindOf({ type: 'error', sequence_number: 0, ...flat })).toBe('rate_limited')
  expect(kindOf({ type: 'error', error: { ...flat, type: 'tokens' } })).toBe('rate_limited')
  expect(kindOf({ type: 'error', status: 401, error: { message: 'Who?' } })).toBe('auth')
  const failed = (error: unknown) => ({ type: 'response.failed', response: { ...RESPONSE, error } })
  expect(kindOf(failed({ code: 'server_error', message: 'Oh.' }))).toBe('overloaded')
  expect(kindOf(failed({ code: 'context_length_exceeded', message: '' }))).toBe('context_overflow')
  expect(kindOf(failed(null))).toBe('invalid_response')
  expect(kindOf(completed([], { status: 'failed', error: flat }))).toBe('rate_limited')
})

test('an answer that was cut off ends with the reason of the vendor, and an incomplete call is not returned', () => {
  const stop_reason = 'max_output_tokens'
  const begun = [CREATED, added(0, message('')), textDelta(0, 'I lo')]
  const cut = done(0, message('I lo', { status: 'incomplete' }))
  const beforeCut = [
    { type: 'text_delta', text: 'I lo' },
    { type: 'item', item: { kind: 'text', text: 'I lo' } },
    expect.objectContaining({ type: 'done', stop_reason }),
  ]
  expect(read([...begun, cut, incomplete(stop_reason)])).toEqual(beforeCut)
  const call1 = [added(1, call('1', '')), argumentsDelta(1, '{"pa')]
  expect(read([...begun, cut, ...call1, incomplete(stop_reason)])).toEqual(beforeCut)
  const half = call('1', '{"pa', { status: 'incomplete' })
  const ended = [done(1, half), incomplete(stop_reason, [half])]
  expect(read([...begun, cut, ...call1, ...ended])).toEqual(beforeCut)
  expect(read([incomplete(stop_reason, [message('I lo'), half])])).toEqual(beforeCut.slice(1))
  expect(kinds(read([...begun, incomplete(stop_reason)])).at(-1)).toBe('invalid_response')
})

test('missing usage figures are zero', () => {
  const none = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0 }
  const bare = { type: 'response.completed', response: {} }
  expect(read([bare])).toEqual([{ type: 'done', stop_reason: 'completed', usage: none, raw: {} }])
  const few = { response: { usage: { input_tokens: 3, output_tokens: 2 }, id: 'x'.repeat(999) } }
  expect(read([{ ...bare, ...few }])).toMatchObject([
    { usage: { ...none, input: 3, output: 2 }, raw: {} },
  ])
})

const TEXT = [CREATED, added(0, message('')), textDelta(0, 'a'), done(0, message('a'))]

test.each<[string, readonly Event[]]>([
  ['a second beginning', [CREATED, CREATED]],
  ['a number twice', [...TEXT, { ...added(1, call('1', '')), sequence_number: 3 }]],
  ['a number that goes back', [...TEXT, { ...completed([]), sequence_number: 1 }]],
  ['an item twice', [...TEXT, done(0, message('a'))]],
  ['an item announced twice', [added(0, message('')), added(0, message(''))]],
  ['an item before those that were returned', [done(1, message('a')), added(0, message(''))]],
  ['a delta without an item', [textDelta(0, 'a')]],
  ['a delta for an item that ended', [...TEXT, textDelta(0, 'b')]],
  ['a delta for an item of another type', [added(0, call('1', '')), textDelta(0, 'a')]],
  ['an item that ends with another type', [added(0, message('')), done(0, call('1', '{}'))]],
  ['a text that is lost', [added(0, message('')), textDelta(0, 'a'), done(0, message(''))]],
  ['other arguments at once', [added(0, READ), argumentsDone(0, '{}'), done(0, READ)]],
  [
    'arguments unlike their deltas',
    [added(0, READ), argumentsDelta(0, '{'), argumentsDone(0, '{}')],
  ],
  ['other arguments', [added(0, call('1', '')), argumentsDelta(0, '{'), done(0, call('1', '{}'))]],
  ['an item left open', [CREATED, added(0, message('')), completed([])]],
  ['half a call in a whole answer', [done(0, { ...READ, status: 'incomplete' }), completed([])]],
  ['a call twice', [done(0, READ), done(1, READ), completed([])]],
  ['an additional item at the end', [...TEXT, completed([message('a'), call('1', '{}')])]],
  ['an event without a type', [{ delta: 'a' }]],
  ['a known event of another shape', [{ ...textDelta(0, 'a'), delta: 7 }]],
  ['an item of another shape', [done(0, { type: 'function_call', name: 'read' })]],
  ['a thought without a bottom', [done(0, { ...THOUGHT, deep: nested(1000) })]],
])('%s is an invalid answer', (_, events) => {
  expect(kinds(read(events)).at(-1)).toBe('invalid_response')
  expect(kinds(read(events)).filter((kind) => kind === 'done')).toEqual([])
})

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth))
}

test('input that is not JSON is an error, and nothing is returned after the end of an answer', () => {
  const reader = responsesReader()
  expect(kinds(reader.take({ event: 'message', data: '[DONE]' }))).toEqual(['invalid_response'])
  expect(reader.take(framed(CREATED))).toEqual([])
  expect(read([...WHOLE, ...WHOLE])).toEqual(WHOLE_EVENTS)
})

test('a corrupted stream never throws, ends at most once, and returns no item that was not sent, and no call twice', () => {
  const itemsOf = (events: readonly ProviderEvent[]) =>
    events.flatMap((event) => (event.type === 'item' ? [JSON.stringify(event.item)] : []))
  const sent = itemsOf(WHOLE_EVENTS)
  for (let seed = 1; seed <= 200; seed += 1) {
    const events = read(tampered(seed))
    const ends = events.filter(({ type }) => type === 'done' || type === 'error')
    expect([[], events.slice(-1)]).toContainEqual(ends)
    expect(sent).toEqual(expect.arrayContaining(itemsOf(events)))
    const calls = itemsOf(events).filter((item) => item.includes('tool_call'))
    expect(new Set(calls).size).toBe(calls.length)
  }
})

/** Drops, duplicates, moves or renames events, or changes their fields, but not the items in them. */
function tampered(seed: number): Event[] {
  const chance = random(seed)
  const events: Event[] = chance.below(2) === 0 ? [...WHOLE] : numbered(WHOLE)
  for (let change = chance.below(4); change >= 0; change -= 1) {
    const at = chance.below(events.length)
    const event = events[at] ?? {}
    const there = chance.below(events.length)
    const ways = [
      () => events.splice(at, 1),
      () => events.splice(there, 0, event),
      () => events.splice(there, 0, ...events.splice(at, 1)),
      () => events.splice(at, 1, { ...event, output_index: chance.below(5) }),
      () => events.splice(at, 1, { ...event, type: WHOLE[there]?.['type'] }),
      () => events.splice(at, 1, { ...event, delta: chance.pick([null, '', '}', 7]) }),
      () => events.splice(at, 1, { ...event, sequence_number: chance.below(9) }),
    ]
    chance.pick(ways)()
  }
  return events
}

test('a body is sent unchanged, with the key if there is one, and nothing from the environment', async () => {
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-other: 1\nauthorization: Bearer other')
  vi.stubEnv('OPENAI_ORG_ID', 'other')
  onTestFinished(() => void vi.unstubAllEnvs())
  const server = await scriptedServer(() => ({ body: BYTES }))
  onTestFinished(() => server.close())
  const place = { baseUrl: server.baseUrl('responses'), idleMs: 60_000, clock: systemClock }
  const body = Buffer.from('{"model":"gpt-x", "stream":true,"input":"hello"}')
  for (const key of ['sk-own', undefined]) {
    const provider = responsesProvider({ ...place, key })
    const events: ProviderEvent[] = []
    for await (const event of provider.stream(body, new AbortController().signal))
      events.push(event)
    expect(events).toEqual(WHOLE_EVENTS)
    const { method, path, bytes, headers } = server.requests.at(-1) ?? {}
    expect([method, path, bytes]).toEqual(['POST', '/v1/responses', body])
    const { host: _, connection: __, 'content-length': ___, ...chosen } = headers ?? {}
    expect(chosen).toEqual({
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'user-agent': 'hawser',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    })
  }
})
