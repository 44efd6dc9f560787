import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openRehearsal, type RehearsalVendor } from '../support/providers/rehearsal-server.ts'
import { eventErrors, vendorSchema } from '../support/providers/vendor-schemas.ts'
import { parseJson } from '../../src/encoding/json.ts'
import { ServerSentEvents } from '../../src/encoding/server-sent-events.ts'
import type { AnswerReader } from '../../src/providers/answer-reader.ts'
import { chatReader } from '../../src/providers/chat/stream.ts'
import { messagesReader } from '../../src/providers/messages/stream.ts'
import type { ProviderEvent } from '../../src/providers/provider.ts'
import { responsesReader } from '../../src/providers/responses/stream.ts'
import type { Thought } from '../../src/providers/rehearsal/brain.ts'
import { piecesOf } from '../../rehearse/src/dialect.ts'
import type { VendorDialect } from '../../rehearse/src/rules/request-schemas.ts'
import { schemaCheck } from '../../rehearse/src/rules/schema-check.ts'

const DIALECTS = ['messages', 'responses', 'chat'] as const
const PATHS: Readonly<Record<VendorDialect, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}
const READERS: Readonly<Record<VendorDialect, () => AnswerReader>> = {
  messages: messagesReader,
  responses: responsesReader,
  chat: chatReader,
}
const LIMITS: Readonly<Record<VendorDialect, string>> = {
  messages: 'max_tokens',
  responses: 'max_output_tokens',
  chat: 'max_completion_tokens',
}

function body(dialect: VendorDialect, more: object): object {
  const tools = [
    { name: 'read', parameters: { type: 'object' } },
    { name: 'write', parameters: { type: 'object' } },
  ]
  const message = { role: 'user', content: 'Do it.' }
  switch (dialect) {
    case 'messages':
      return {
        model: 'm',
        max_tokens: 9_000,
        messages: [message],
        tools: tools.map(({ name, parameters }) => ({ name, input_schema: parameters })),
        ...more,
      }
    case 'responses':
      return {
        model: 'm',
        input: [message],
        tools: tools.map((tool) => ({ type: 'function', strict: false, ...tool })),
        ...more,
      }
    case 'chat':
      return {
        model: 'm',
        messages: [message],
        stream_options: { include_usage: true },
        tools: tools.map((tool) => ({ type: 'function', function: tool })),
        ...more,
      }
  }
}

function ask(vendor: RehearsalVendor, dialect: VendorDialect, content: object) {
  return fetch(vendor.origin + PATHS[dialect], {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer any',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(content),
  })
}

/** The data of every event of an answer. */
async function dataOf(vendor: RehearsalVendor, dialect: VendorDialect, more: object = {}) {
  const answer = await ask(vendor, dialect, { ...body(dialect, more), stream: true })
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect([answer.status, answer.status === 200 ? '' : bytes.toString()]).toEqual([200, ''])
  return new ServerSentEvents().push(bytes).map(({ data }) => data)
}

function understood(dialect: VendorDialect, data: readonly string[]): ProviderEvent[] {
  const reader = READERS[dialect]()
  return data.flatMap((one) => [...reader.take({ event: 'message', data: one })])
}

function wrongEvents(dialect: VendorDialect, data: readonly string[]): string[] {
  const events = data.filter((one) => one !== '[DONE]').map(parseJson)
  return events.flatMap((event) => eventErrors(dialect, event))
}

const thought: fc.Arbitrary<Thought> = fc.record({
  text: fc.oneof(fc.constant(''), fc.string({ unit: 'grapheme', maxLength: 300 })),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('read', 'write'),
      arguments: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string({ maxLength: 200 })),
    }),
    { maxLength: 3 },
  ),
})

for (const dialect of DIALECTS) {
  test(`every event matches the vendor's types, and together they contain the answer: ${dialect}`, async () => {
    let now: Thought = { text: '', calls: [] }
    const vendor = await openRehearsal({ brain: async () => now })
    await fc.assert(
      fc.asyncProperty(thought, async (one) => {
        now = one
        const data = await dataOf(vendor, dialect)
        expect(wrongEvents(dialect, data)).toEqual([])
        const events = understood(dialect, data)
        const items = events.flatMap((event) => (event.type === 'item' ? [event.item] : []))
        expect(
          items.map((item) =>
            item.kind === 'tool_call' ? [item.name, parseJson(item.arguments)] : item,
          ),
        ).toEqual([
          ...(one.text === '' ? [] : [{ kind: 'text', text: one.text }]),
          ...one.calls.map((call) => [call.name, { ...call.arguments }]),
        ])
        const deltas = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []))
        expect(deltas.join('')).toBe(one.text)
        expect(events.at(-1)).toMatchObject({ type: 'done' })
      }),
      { numRuns: 30 },
    )
  })

  test(`all ids of a server are different, and have the vendor's format: ${dialect}`, async () => {
    const calls = [{ name: 'read', arguments: {} }]
    const vendor = await openRehearsal({ brain: async () => ({ text: 'a', calls }) })
    const ids: string[] = []
    for (let round = 0; round < 5; round += 1) {
      for (const event of understood(dialect, await dataOf(vendor, dialect))) {
        if (event.type === 'item' && event.item.kind === 'tool_call') ids.push(event.item.call_id)
        if (event.type === 'done') ids.push(String(event.raw?.['id']))
      }
    }
    expect(new Set(ids).size).toBe(10)
    expect(ids.filter((id) => !/^(toolu|msg|call|resp|chatcmpl)_[0-9a-f]{24}$/.test(id))).toEqual(
      [],
    )
  })

  test(`an answer is truncated at its limit, with the vendor's reason: ${dialect}`, async () => {
    const text = 'ä'.repeat(100)
    const calls = [{ name: 'write', arguments: { content: 'b'.repeat(500) } }]
    const vendor = await openRehearsal({ brain: async () => ({ text, calls }) })
    const cutText = await dataOf(vendor, dialect, { [LIMITS[dialect]]: 17 })
    expect(wrongEvents(dialect, cutText)).toEqual([])
    const events = understood(dialect, cutText)
    const [item] = events.flatMap((event) => (event.type === 'item' ? [event.item] : []))
    expect(item).toEqual({ kind: 'text', text: 'ä'.repeat(34) })
    const reason = { messages: 'max_tokens', responses: 'max_output_tokens', chat: 'length' }
    const done = { type: 'done', stop_reason: reason[dialect], usage: { output: 17 } }
    expect(events.at(-1)).toMatchObject(done)
    const cutCall = await dataOf(vendor, dialect, { [LIMITS[dialect]]: 80 })
    expect(wrongEvents(dialect, cutCall)).toEqual([])
    const kinds = understood(dialect, cutCall).flatMap((event) =>
      event.type === 'item' ? [event.item.kind] : [],
    )
    expect(kinds).toEqual(['text'])
  })

  test(`without parallel calls, only one call is made: ${dialect}`, async () => {
    const calls = ['a', 'b'].map((path) => ({ name: 'read', arguments: { path } }))
    const vendor = await openRehearsal({ brain: async () => ({ text: '', calls }) })
    const alone =
      dialect === 'messages'
        ? { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }
        : { parallel_tool_calls: false }
    const items = understood(dialect, await dataOf(vendor, dialect, alone)).filter(
      ({ type }) => type === 'item',
    )
    expect(items).toHaveLength(1)
  })

  test(`repeated content is read from the cache, and the usage adds up: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    const long = 'A long story. '.repeat(600)
    const marked = { type: 'text', text: long, cache_control: { type: 'ephemeral' } }
    const more = {
      messages: { messages: [{ role: 'user', content: [marked] }] },
      responses: { input: long },
      chat: { messages: [{ role: 'user', content: long }] },
    }[dialect]
    const usages = []
    for (let round = 0; round < 2; round += 1) {
      const events = understood(dialect, await dataOf(vendor, dialect, more))
      usages.push(events.flatMap((event) => (event.type === 'done' ? [event.usage] : []))[0])
    }
    const [first, second] = usages
    const written = dialect === 'messages' ? first?.input : 0
    expect(first).toMatchObject({ cached_read: 0, cache_write: written })
    expect(second?.input).toBe(first?.input)
    expect((second?.cached_read ?? 0) / (second?.input ?? 1)).toBeGreaterThan(0.9)
  })
}

/** A check of one definition in the schema of a vendor's events. */
function definition(dialect: VendorDialect, name: string) {
  const { definitions = {} } = vendorSchema(dialect, 'event')
  return schemaCheck<unknown>({ $ref: `#/definitions/${name}`, definitions })
}

test('without streaming, an answer is one object that matches the types of the vendor', async () => {
  const calls = [{ name: 'read', arguments: { path: 'a' } }]
  const vendor = await openRehearsal({ brain: async () => ({ text: 'one', calls }) })
  const whole = async (dialect: VendorDialect) => {
    const answer = await ask(vendor, dialect, without(body(dialect, {}), 'stream_options'))
    return JSON.parse(await answer.text()) as unknown
  }
  expect(definition('messages', 'Message')(await whole('messages'))).toMatchObject({ ok: true })
  expect(definition('responses', 'Response')(await whole('responses'))).toMatchObject({ ok: true })
  expect(await whole('chat')).toEqual({
    id: expect.stringMatching(/^chatcmpl_/) as unknown,
    object: 'chat.completion',
    created: expect.any(Number) as unknown,
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        logprobs: null,
        message: {
          role: 'assistant',
          content: 'one',
          refusal: null,
          tool_calls: [
            {
              id: expect.stringMatching(/^call_/) as unknown,
              type: 'function',
              function: { name: 'read', arguments: '{"path":"a"}' },
            },
          ],
        },
      },
    ],
    usage: expect.objectContaining({ completion_tokens: 5 }) as unknown,
  })
})

function without(whole: object, name: string): object {
  return Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name))
}

test('Chat Completions sends usage only if the request asks for it', async () => {
  const vendor = await openRehearsal()
  const silent = await dataOf(vendor, 'chat', { stream_options: null })
  expect(silent.filter((data) => data.includes('"usage"'))).toEqual([])
})

test('a stop sequence ends an answer, in the dialects that support it', async () => {
  const calls = [{ name: 'read', arguments: {} }]
  const vendor = await openRehearsal({ brain: async () => ({ text: 'one STOP two', calls }) })
  const messages = await dataOf(vendor, 'messages', { stop_sequences: ['two', 'STOP'] })
  expect(wrongEvents('messages', messages)).toEqual([])
  expect(understood('messages', messages).slice(-2)).toMatchObject([
    { type: 'item', item: { kind: 'text', text: 'one ' } },
    { type: 'done', stop_reason: 'stop_sequence' },
  ])
  const chat = understood('chat', await dataOf(vendor, 'chat', { stop: 'STOP' }))
  expect(chat.slice(-2)).toMatchObject([
    { type: 'item', item: { kind: 'text', text: 'one ' } },
    { type: 'done', stop_reason: 'stop' },
  ])
})

test('a text is sent in at least three pieces if it is long enough, in at most 200, and no character is split', () => {
  expect(piecesOf('')).toEqual([])
  expect(piecesOf('ab')).toEqual(['a', 'b'])
  expect(piecesOf('I will read a.txt.')).toEqual(['I will', ' read ', 'a.txt.'])
  expect(piecesOf('a'.repeat(100_000)).length).toBe(200)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 500 }), (text) => {
      const pieces = piecesOf(text)
      expect(pieces.join('')).toBe(text)
      expect(pieces.every((piece) => piece !== '' && piece.isWellFormed())).toBe(true)
    }),
  )
})
