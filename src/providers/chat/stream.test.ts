import { expect, onTestFinished, test, vi } from 'vitest'
import { random } from '../../../test/support/host/random.ts'
import {
  eventsOf,
  sseOf,
  type VendorAnswer,
} from '../../../test/support/providers/vendor-answer.ts'
import { eventErrors } from '../../../test/support/providers/vendor-schemas.ts'
import { scriptedServer, type RawAnswer } from '../../../test/support/providers/vendor-server.ts'
import { ServerSentEvents } from '../../encoding/server-sent-events.ts'
import { systemClock } from '../../host/clock.ts'
import type { Surface } from '../../model/surface.ts'
import type { ProviderEvent } from '../provider.ts'
import { buildBody, encode } from './encode.ts'
import { chatProvider, chatReader } from './stream.ts'

type Chunk = Readonly<Record<string, unknown>>

const END = '[DONE]'
const USAGE = {
  prompt_tokens: 1200,
  completion_tokens: 80,
  total_tokens: 1280,
  prompt_tokens_details: { cached_tokens: 1024, cache_write_tokens: 100, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 64, accepted_prediction_tokens: 3 },
}
const COUNTED = { input: 1200, cached_read: 1024, cache_write: 100, output: 80, reasoning: 64 }
const NOTHING = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0 }
const RAW = { id: 'chatcmpl_1', model: 'gpt-x-2026' }

function chunk(delta: Chunk, finish_reason: string | null = null, more: Chunk = {}): Chunk {
  const choices = [{ index: 0, delta, finish_reason, logprobs: null }]
  const head = {
    id: 'chatcmpl_1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-x-2026',
  }
  return { ...head, choices, usage: null, ...more }
}

const words = (content: string) => chunk({ content })
const stop = (reason: string) => chunk({}, reason)
const figures = (usage: Chunk = USAGE) => ({ ...stop('stop'), choices: [], usage })

/** One delta of a call. */
function calling(index: number | undefined, id?: string, name?: string, written?: string): Chunk {
  return chunk({ tool_calls: [{ index, id, function: { name, arguments: written } }] })
}

/** The events that the reader returns, up to its end or the last chunk. */
function read(chunks: readonly (Chunk | string)[]): ProviderEvent[] {
  const reader = chatReader()
  const events: ProviderEvent[] = []
  for (const one of chunks) {
    const data = typeof one === 'string' ? one : JSON.stringify(one)
    events.push(...reader.take({ event: 'message', data }))
    if (events.some(({ type }) => type === 'done' || type === 'error')) break
  }
  return events
}

function item(kind: 'text', text: string): ProviderEvent
function item(kind: 'tool_call', call_id: string, name: string, written: string): ProviderEvent
function item(kind: 'text' | 'tool_call', first: string, name = '', written = ''): ProviderEvent {
  if (kind === 'text') return { type: 'item', item: { kind, text: first } }
  return { type: 'item', item: { kind, call_id: first, name, arguments: written } }
}

function done(stop_reason: string, usage = NOTHING, raw: Chunk = RAW): ProviderEvent {
  return { type: 'done', stop_reason, usage, raw }
}

function itemsOf(events: readonly ProviderEvent[]) {
  return events.flatMap((event) => (event.type === 'item' ? [event.item] : []))
}

function endOf(events: readonly ProviderEvent[]): string | undefined {
  const last = events.at(-1)
  return last?.type === 'error' ? last.error.kind : last?.type
}

const WHOLE: VendorAnswer = {
  text: 'I look – “both” 🙂.',
  calls: [
    { id: 'call_a', name: 'read', arguments: '{"path":"a – 🙂"}' },
    { id: 'call_b', name: 'bash', arguments: '{ "command" : "ls" }' },
  ],
  usage: COUNTED,
}

const WHOLE_EVENTS: ProviderEvent[] = [
  { type: 'text_delta', text: 'I look' },
  { type: 'text_delta', text: ' – “bo' },
  { type: 'text_delta', text: 'th” 🙂.' },
  item('text', 'I look – “both” 🙂.'),
  item('tool_call', 'call_a', 'read', '{"path":"a – 🙂"}'),
  item('tool_call', 'call_b', 'bash', '{ "command" : "ls" }'),
  done('tool_calls', COUNTED, { id: 'chatcmpl_1', model: 'model-of-a-vendor', total_tokens: 1280 }),
]

test('text is shown as it arrives; text and parallel calls are returned when the answer ends, then its usage', () => {
  expect(read(eventsOf('chat', WHOLE))).toEqual(WHOLE_EVENTS)
})

test('an answer that arrives byte by byte gives the same result', () => {
  const frames = new ServerSentEvents()
  const events = [...sseOf('chat', WHOLE)].flatMap((byte) => frames.push(Uint8Array.of(byte)))
  expect(read(events.map(({ data }) => data))).toEqual(WHOLE_EVENTS)
})

test('the end is where the usage arrives, in the last chunk or after it, or otherwise at the end of the stream', () => {
  const expected = [{ type: 'text_delta', text: 'Hi' }, item('text', 'Hi')]
  const raw = { ...RAW, total_tokens: 1280, audio_tokens: 0, accepted_prediction_tokens: 3 }
  const last = chunk({}, 'stop', { usage: USAGE })
  expect(eventErrors('chat', last)).toEqual([])
  expect(read([words('Hi'), stop('stop')])).toEqual(expected)
  expect(read([words('Hi'), stop('stop'), figures()])).toEqual([
    ...expected,
    done('stop', COUNTED, raw),
  ])
  expect(read([words('Hi'), last])).toEqual([...expected, done('stop', COUNTED, raw)])
  expect(read([words('Hi'), stop('stop'), END])).toEqual([...expected, done('stop')])
  expect(read([figures(), words('Hi'), stop('stop'), ` ${END}`])).toEqual([
    ...expected,
    done('stop', COUNTED, raw),
  ])
})

test('usage of other servers counts, and unknown figures are kept if they are small', () => {
  const usage = { prompt_tokens: 9, prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 4 }
  const more = { cost: 0.25, completion_tokens: null, details: ['x'], long: 'x'.repeat(300) }
  const many = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`figure_${at}`, at]))
  const [, , counted] = read([words('a'), stop('stop'), figures({ ...usage, ...more })])
  const raw = { ...RAW, prompt_cache_miss_tokens: 4, cost: 0.25 }
  expect(counted).toEqual(done('stop', { ...NOTHING, input: 9, cached_read: 5 }, raw))
  const [end] = read([stop('stop'), figures(many)])
  expect(end?.type === 'done' && Object.keys(end.raw ?? {})).toHaveLength(16)
})

test('reasoning is shown under either name, and not kept', () => {
  const thinking = [
    chunk({ role: 'assistant', content: '', reasoning_content: 'Hm.' }),
    chunk({ content: null, reasoning: ' So.' }),
    chunk({ reasoning_content: 'same', reasoning: 'same', content: 'Hi' }),
  ]
  expect(read([...thinking, stop('stop'), END])).toEqual([
    { type: 'reasoning_delta', text: 'Hm.' },
    { type: 'reasoning_delta', text: ' So.' },
    { type: 'reasoning_delta', text: 'same' },
    { type: 'text_delta', text: 'Hi' },
    item('text', 'Hi'),
    done('stop'),
  ])
})

test('an answer that was cut off returns its text, and none of its calls', () => {
  const cut = [words('Hi'), calling(0, 'a', 'read', '{"p":1}'), calling(1, 'b', 'read', '{"p":')]
  for (const reason of ['length', 'a_word_of_later']) {
    expect(read([...cut, stop(reason), figures()]).slice(1)).toEqual([
      item('text', 'Hi'),
      expect.objectContaining({ type: 'done', stop_reason: reason }),
    ])
  }
})

test('arguments are returned as the model wrote them, and empty ones as an object', () => {
  for (const reason of ['stop', 'tool_calls', 'function_call']) {
    const chunks = [calling(0, 'a', 'read', '{"p":'), calling(1, 'b', 'list'), stop(reason), END]
    expect(read(chunks)).toEqual([
      item('tool_call', 'a', 'read', '{"p":'),
      item('tool_call', 'b', 'list', '{}'),
      done(reason),
    ])
  }
})

test('calls are distinguished as each server distinguishes them', () => {
  const [a, b] = ['{"p":"a"}', '{"p":"b"}']
  const both = [
    { kind: 'tool_call', call_id: 'a', name: 'read', arguments: a },
    { kind: 'tool_call', call_id: 'b', name: 'read', arguments: b },
  ]
  const itemsFrom = (...chunks: Chunk[]) => itemsOf(read([...chunks, stop('tool_calls'), END]))
  // Name and id in every delta, or empty after the first, or a new id in every delta, or the index out of order.
  expect(itemsFrom(calling(0, 'a', 'read', '{"p":'), calling(0, 'a', 'read', '"a"}'))).toEqual([
    both[0],
  ])
  expect(itemsFrom(calling(0, 'a', 'read', '{"p":'), calling(0, '', '', '"a"}'))).toEqual([both[0]])
  expect(itemsFrom(calling(0, 'a', 'read', '{"p":'), calling(0, 'x', '', '"a"}'))).toEqual([
    both[0],
  ])
  expect(itemsFrom(calling(0, '', 'read', '{"p":'), calling(0, 'a', 'read', '"a"}'))).toEqual([
    both[0],
  ])
  expect(itemsFrom(calling(1, 'b', 'read', b), calling(0, 'a', 'read', a))).toEqual(both)
  // Every call is the first, or has no index.
  for (const index of [0, undefined]) {
    const once = [calling(index, 'a', 'read', a), calling(index, 'b', 'read', b)]
    expect(itemsFrom(...once)).toEqual(both)
    const pieces = [calling(index, 'b', 'read', ''), calling(index, '', '', b)]
    expect(itemsFrom(calling(index, 'a', 'read', a), ...pieces)).toEqual(both)
  }
})

test('calls without an id get one: the same for the same answer, and a different one for each call and answer', () => {
  const ids = (id: string) => {
    const chunks = [calling(0, '', 'read', '{}'), calling(1, undefined, 'read', '{}')]
    const all = [{ id: '', choices: [] }, ...chunks.map((one) => ({ ...one, id })), stop('stop')]
    return itemsOf(read(all)).map((one) => (one.kind === 'tool_call' ? one.call_id : ''))
  }
  const [one, other] = [ids('x'), ids('y')]
  expect(ids('x')).toEqual(one)
  expect(new Set([...one, ...other]).size).toBe(4)
  for (const id of [...one, ...other]) expect(id).toMatch(/^call_[0-9a-f]{16}$/)
})

test('a refusal, a full window and a server that gave up are not answers', () => {
  const refusing = [chunk({ refusal: 'I ca' }), chunk({ refusal: 'nnot.' }), stop('stop')]
  expect(read(refusing)).toEqual([
    {
      type: 'error',
      error: {
        kind: 'refused',
        message: 'The model refused to answer.',
        details: { reason: 'refusal', explanation: 'I cannot.' },
        next_actions: [],
      },
    },
  ])
  const kindOf = (reason: string) => endOf(read([words('a'), stop(reason)]))
  expect(kindOf('content_filter')).toBe('refused')
  expect(kindOf('sensitive')).toBe('refused')
  expect(kindOf('model_length')).toBe('context_overflow')
  expect(kindOf('model_context_window_exceeded')).toBe('context_overflow')
  expect(kindOf('insufficient_system_resource')).toBe('overloaded')
  expect(kindOf('network_error')).toBe('overloaded')
  expect(kindOf('error')).toBe('invalid_response')
})

test('an error in the middle of an answer is reported with its content', () => {
  const kindOf = (fault: Chunk) => endOf(read([words('a'), fault, stop('stop'), END]))
  const limited = { code: 'rate_limit_exceeded', message: 'Slow down.' }
  expect(kindOf({ error: limited })).toBe('rate_limited')
  expect(kindOf(chunk({ content: '' }, 'error', { error: { code: 502, message: 'x' } }))).toBe(
    'overloaded',
  )
  expect(kindOf({ object: 'error', code: 'context_length_exceeded', message: 'x' })).toBe(
    'context_overflow',
  )
  expect(kindOf({ error: 'something' })).toBe('invalid_response')
  expect(kindOf({ error: 7 })).toBe('invalid_response')
})

test('unknown fields are ignored', () => {
  const other = {
    ...chunk({ content: 'no' }, 'length'),
    choices: [{ index: 1, delta: { content: 'no' } }],
  }
  expect(
    read([
      { object: 'of a later version', later: [1] },
      { ...chunk({}), choices: null, prompt_filter_results: [{}] },
      { choices: [{ later: 1 }] },
      other,
      chunk({ role: 'assistant', content: 'Hi', later: {}, audio: null, tool_calls: null }),
      stop('stop'),
      // Some servers keep sending empty deltas with the finish reason.
      chunk({ role: 'assistant', content: '', tool_calls: [] }, 'stop'),
      END,
    ]),
  ).toEqual([{ type: 'text_delta', text: 'Hi' }, item('text', 'Hi'), done('stop', NOTHING, RAW)])
})

test.each([
  ['invalid JSON', ['{"choices":']],
  ['JSON that is not a chunk', ['[]']],
  ['text of another type', [chunk({ content: 7 })]],
  ['arguments of another type', [chunk({ tool_calls: [{ function: { arguments: {} } }] })]],
  ['a negative figure', [stop('stop'), figures({ prompt_tokens: -1 })]],
  ['an end before any reason', [words('a'), END]],
  ['text after the end', [stop('stop'), words('a')]],
  ['a call after the end', [stop('stop'), calling(0, 'a', 'read', '{}')]],
  ['two reasons', [stop('stop'), stop('length')]],
  ['a call without a name', [calling(0, 'a', '', '{}'), stop('stop')]],
  ['two names of one call', [calling(0, 'a', 'read', '{}'), calling(0, 'a', 'bash', '{}')]],
  ['a call in a call', [calling(0, 'a', 'read', '{"p":'), calling(0, 'b', 'read', '"a"}')]],
])('%s is an invalid answer', (_, chunks) => {
  expect(endOf(read(chunks))).toBe('invalid_response')
})

test('corrupted streams return their text and their end at most once', () => {
  const lines = sseOf('chat', WHOLE).toString().split('\n\n')
  for (let seed = 1; seed <= 200; seed += 1) {
    const chance = random(seed)
    const mutated = lines.flatMap((line) => {
      const what = chance.below(12)
      if (what === 0) return []
      if (what === 1) return [line, line]
      if (what === 2) return [chance.pick(lines), line]
      if (what > 3) return [line]
      const at = chance.below(line.length + 1)
      const noise = chance.pick(['', '"', '0', 'null', '}', '\\', ' '])
      return [line.slice(0, at) + noise + line.slice(at + chance.below(3))]
    })
    const frames = new ServerSentEvents()
    const reader = chatReader()
    const events = frames.push(Buffer.from(mutated.join('\n\n')))
    const returned = events.flatMap((event) => reader.take(event))
    const ends = returned.filter(({ type }) => type === 'done' || type === 'error')
    expect(ends.length).toBeLessThanOrEqual(1)
    if (ends.length === 1) expect(returned.at(-1)).toBe(ends[0])
    expect(returned.every((event) => !('text' in event) || event.text !== '')).toBe(true)
    expect(itemsOf(returned).filter(({ kind }) => kind === 'text').length).toBeLessThanOrEqual(1)
  }
})

const surface: Surface = {
  contract_version: 'hw1',
  model: 'gpt-x',
  system: ['Layer 0'],
  tools: [],
  params: { replay: 'attach-turn', late_role: 'system', tool_choice: 'auto', limits: {} },
}

/** Sends one request to a server with this answer. */
async function ask(answer: RawAnswer | 'cut', key?: string) {
  const server = await scriptedServer(() => answer)
  onTestFinished(() => server.close())
  const baseUrl = server.baseUrl('chat')
  const provider = chatProvider({ key, baseUrl, idleMs: 60_000, clock: systemClock })
  const body = buildBody(encode([], surface), { cacheKey: 'k' })
  const returned: ProviderEvent[] = []
  for await (const event of provider.stream(body, new AbortController().signal))
    returned.push(event)
  return { returned, body, requests: server.requests }
}

test('a body is sent unchanged, with the key and nothing from the environment', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'another')
  vi.stubEnv('OPENAI_ADMIN_KEY', 'another')
  vi.stubEnv('OPENAI_ORG_ID', 'somebody')
  vi.stubEnv('OPENAI_PROJECT_ID', 'something')
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9')
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-somebody: me\nauthorization: Bearer another')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { returned, body, requests } = await ask({ body: sseOf('chat', WHOLE) }, 'sk-of-a-test')
  expect(returned).toEqual(WHOLE_EVENTS)
  expect(requests.map(({ method, path, bytes }) => [method, path, bytes])).toEqual([
    ['POST', '/v1/chat/completions', body],
  ])
  const { host: _, connection: __, ...headers } = requests[0]?.headers ?? {}
  expect(headers).toEqual({
    accept: 'text/event-stream',
    'accept-encoding': 'identity',
    authorization: 'Bearer sk-of-a-test',
    'content-length': String(body.length),
    'content-type': 'application/json',
    'user-agent': 'hawser',
  })
})

test('without a key, no authentication is sent', async () => {
  const { returned, requests } = await ask({ body: sseOf('chat', WHOLE) })
  expect(returned).toEqual(WHOLE_EVENTS)
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
})

test('a server that refuses, or disconnects, is reported once', async () => {
  const body = JSON.stringify({ error: { message: 'No.', code: 'invalid_api_key' } })
  expect((await ask({ status: 401, body })).returned.map((event) => endOf([event]))).toEqual([
    'auth',
  ])
  expect((await ask('cut')).returned.map((event) => endOf([event]))).toEqual(['network'])
  const whole = sseOf('chat', WHOLE)
  const { returned } = await ask({
    body: whole,
    cutAfter: whole.indexOf('"tool_calls","logprobs"'),
  })
  expect(returned.map(({ type }) => type)).toEqual([
    'text_delta',
    'text_delta',
    'text_delta',
    'error',
  ])
})
