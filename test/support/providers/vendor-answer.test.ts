import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { eventsOf, sseOf, type VendorAnswer, type VendorEvent } from './vendor-answer.ts'
import { eventErrors } from './vendor-schemas.ts'
import { scriptedServer } from './vendor-server.ts'

const DIALECTS = ['messages', 'responses', 'chat'] as const
const CALLS = [
  { id: 'call_1', name: 'sound', arguments: '{"place":"harbour"}' },
  { id: 'call_2', name: 'tide', arguments: '{}' },
]
const WHOLE: VendorAnswer = {
  reasoning: 'First the depth.',
  text: 'I look. ⚓🌊',
  calls: CALLS,
  usage: { input: 50, cached_read: 30, cache_write: 5, output: 9, reasoning: 4 },
}
const CUT_OFF = { messages: 'max_tokens', responses: 'max_output_tokens', chat: 'length' } as const

test('every event of every answer is valid, by the types of the SDK', () => {
  for (const dialect of DIALECTS) {
    const answers: VendorAnswer[] = [
      {},
      { text: 'a' },
      { text: '' },
      { calls: CALLS },
      { reasoning: 'b', calls: [{ id: 'c', name: 'd', arguments: '' }] },
      WHOLE,
      { ...WHOLE, stop: CUT_OFF[dialect] },
    ]
    for (const answer of answers) {
      const events = framed(dialect, sseOf(dialect, answer))
      expect(events.flatMap((event) => eventErrors(dialect, event))).toEqual([])
      expect(events).toEqual(eventsOf(dialect, answer))
    }
  }
})

test('a text arrives in several pieces, none of them empty or half a character', () => {
  const deltas: Record<(typeof DIALECTS)[number], (event: VendorEvent) => unknown> = {
    messages: ({ delta }) => (delta as { text?: string } | undefined)?.text,
    responses: ({ type, delta }) => (type === 'response.output_text.delta' ? delta : undefined),
    chat: ({ choices }) => (choices as { delta: { content?: string } }[])[0]?.delta.content,
  }
  for (const dialect of DIALECTS) {
    const texts = eventsOf(dialect, { text: 'I look. ⚓🌊' }).map(deltas[dialect])
    const pieces = texts.filter((text) => typeof text === 'string' && text !== '')
    expect(pieces).toEqual(['I lo', 'ok. ', '⚓🌊'])
  }
})

test('a stop reason that the vendor does not know is refused', () => {
  for (const dialect of DIALECTS) {
    expect(() => eventsOf(dialect, { text: 'a', stop: 'bedtime' })).toThrow('bedtime')
  }
})

test('the SDK of Messages reads an answer as it was described', async () => {
  const client = new Anthropic({ baseURL: await answering('messages'), apiKey: 'key' })
  const { content, usage, stop_reason } = await client.messages
    .stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'a' }] })
    .finalMessage()
  const caller = { type: 'direct' }
  expect(content).toEqual([
    { type: 'thinking', thinking: WHOLE.reasoning, signature: 'c2lnbmVk' },
    { type: 'text', text: WHOLE.text, citations: null },
    { type: 'tool_use', id: 'call_1', name: 'sound', input: { place: 'harbour' }, caller },
    { type: 'tool_use', id: 'call_2', name: 'tide', input: {}, caller },
  ])
  expect(stop_reason).toBe('tool_use')
  expect(usage).toMatchObject({
    input_tokens: 15,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 5,
    output_tokens: 9,
    output_tokens_details: { thinking_tokens: 4 },
  })
})

test('the SDK of Responses reads an answer as it was described', async () => {
  const client = new OpenAI({ baseURL: await answering('responses'), apiKey: 'key' })
  const { output, output_text, usage, status } = await client.responses
    .stream({ model: 'm', input: 'a' })
    .finalResponse()
  expect([output_text, status]).toEqual([WHOLE.text, 'completed'])
  expect(output).toMatchObject([
    { type: 'reasoning', summary: [{ type: 'summary_text', text: WHOLE.reasoning }] },
    { type: 'message', content: [{ type: 'output_text', text: WHOLE.text }] },
    { type: 'function_call', call_id: 'call_1', name: 'sound', arguments: '{"place":"harbour"}' },
    { type: 'function_call', call_id: 'call_2', name: 'tide', arguments: '{}' },
  ])
  expect(usage).toEqual({
    input_tokens: 50,
    input_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 59,
  })
})

test('the SDK of Chat Completions reads an answer as it was described', async () => {
  const client = new OpenAI({ baseURL: await answering('chat'), apiKey: 'key' })
  const stream = client.chat.completions.stream({
    model: 'm',
    messages: [{ role: 'user', content: 'a' }],
    stream_options: { include_usage: true },
  })
  const { choices, usage } = await stream.finalChatCompletion()
  const { message, finish_reason } = choices[0]!
  expect([message.content, finish_reason]).toEqual([WHOLE.text, 'tool_calls'])
  expect(message.tool_calls).toMatchObject(
    CALLS.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
  )
  expect(usage).toEqual({
    prompt_tokens: 50,
    completion_tokens: 9,
    total_tokens: 59,
    prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 4 },
  })
})

async function answering(dialect: (typeof DIALECTS)[number]): Promise<string> {
  const server = await scriptedServer(() => ({ body: sseOf(dialect, WHOLE) }))
  onTestFinished(() => server.close())
  return server.baseUrl(dialect)
}

/** The data of every event; asserts that the name of an event is its type. */
function framed(dialect: (typeof DIALECTS)[number], bytes: Buffer): VendorEvent[] {
  const frames = bytes.toString().split('\n\n').slice(0, -1)
  if (dialect === 'chat') expect(frames.pop()).toBe('data: [DONE]')
  return frames.map((frame) => {
    const event = JSON.parse(frame.slice(frame.indexOf('{'))) as VendorEvent
    const name = dialect === 'chat' ? '' : `event: ${String(event['type'])}\n`
    expect(frame).toBe(`${name}data: ${JSON.stringify(event)}`)
    return event
  })
}
