import { Anthropic } from '@anthropic-ai/sdk'
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { OpenAI } from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type {
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { expect, onTestFinished, test } from 'vitest'
import { openRehearsal } from '../../test/support/providers/rehearsal-server.ts'

// The vendors' own clients instead of Hawser's, so that the server is checked against what the vendors send.

const ASK = 'Read a.txt, then run "ls".'
const FILES: Readonly<Record<string, string>> = { 'a.txt': 'first line', ls: 'a.txt' }
const PATH = { type: 'object', properties: { path: { type: 'string' } } } as const
const COMMAND = { type: 'object', properties: { command: { type: 'string' } } } as const
const TOOLS = [
  { name: 'read', description: 'reads a file', schema: PATH },
  { name: 'bash', description: 'runs a command', schema: COMMAND },
]

/** The results of the tools. */
function use(name: string, input: unknown): string {
  const args = input as Record<string, string>
  return FILES[name === 'read' ? (args['path'] ?? '') : (args['command'] ?? '')] ?? 'nothing'
}

const USED = [
  ['read', { path: 'a.txt' }],
  ['bash', { command: 'ls' }],
]
const REPORT = /^Done: read a\.txt\n> first line[\s\S]*> a\.txt/

test('the SDK of Anthropic completes a tool loop', async () => {
  const vendor = await openRehearsal()
  const client = new Anthropic({ apiKey: 'any', baseURL: vendor.baseUrl('messages') })
  const messages: MessageParam[] = [{ role: 'user', content: ASK }]
  const used: unknown[] = []
  for (;;) {
    const stream = client.messages.stream({
      model: 'any-model',
      max_tokens: 1000,
      tools: TOOLS.map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: schema,
      })),
      messages,
    })
    const deltas: string[] = []
    stream.on('text', (delta) => deltas.push(delta))
    const answer = await stream.finalMessage()
    const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    expect([deltas.length > 2, deltas.join('')]).toEqual([true, text])
    messages.push({ role: 'assistant', content: answer.content })
    const calls = answer.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
    expect(answer.stop_reason).toBe(calls.length > 0 ? 'tool_use' : 'end_turn')
    if (calls.length === 0) {
      expect(text).toMatch(REPORT)
      break
    }
    messages.push({
      role: 'user',
      content: calls.map(({ id, name, input }) => {
        used.push([name, input])
        return { type: 'tool_result', tool_use_id: id, content: use(name, input) }
      }),
    })
  }
  expect(used).toEqual(USED)
  await vendor.close()
})

const RESPONSES_TOOLS = TOOLS.map(({ name, description, schema }) => ({
  type: 'function' as const,
  name,
  description,
  parameters: { ...schema },
  strict: false,
}))

/** The results of an answer's calls. */
function resultsOf(output: readonly ResponseOutputItem[], used: unknown[]): ResponseInputItem[] {
  return output.flatMap((item) => {
    if (item.type !== 'function_call') return []
    const { call_id, name } = item
    const input: unknown = JSON.parse(item.arguments)
    used.push([name, input])
    return [{ type: 'function_call_output' as const, call_id, output: use(name, input) }]
  })
}

test('the SDK of OpenAI completes a tool loop with Responses', async () => {
  const vendor = await openRehearsal()
  const client = new OpenAI({ apiKey: 'any', baseURL: vendor.baseUrl('responses') })
  const used: unknown[] = []
  const input: ResponseInputItem[] = [{ role: 'user', content: ASK }]
  for (;;) {
    const stream = client.responses.stream({ model: 'any', input, tools: RESPONSES_TOOLS })
    const deltas: string[] = []
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta))
    const answer = await stream.finalResponse()
    expect([deltas.length > 2, deltas.join('')]).toEqual([true, answer.output_text])
    const results = resultsOf(answer.output, used)
    if (results.length === 0) {
      expect(answer.output_text).toMatch(REPORT)
      break
    }
    const items = answer.output.map((item) =>
      item.type === 'message'
        ? { role: 'assistant' as const, content: answer.output_text }
        : (item as ResponseInputItem),
    )
    input.push(...items.map(withoutParsed), ...results)
  }
  expect(used).toEqual(USED)
  await vendor.close()
})

/** The SDK adds the parsed arguments to a call. */
function withoutParsed(item: ResponseInputItem): ResponseInputItem {
  const { parsed_arguments: _parsed, ...rest } = item as unknown as Record<string, unknown>
  return rest as unknown as ResponseInputItem
}

test('the SDK of OpenAI completes a tool loop with Chat Completions', async () => {
  const vendor = await openRehearsal()
  const client = new OpenAI({ apiKey: 'any', baseURL: vendor.baseUrl('chat') })
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: ASK }]
  const used: unknown[] = []
  for (;;) {
    const stream = client.chat.completions.stream({
      model: 'any',
      stream_options: { include_usage: true },
      messages,
      tools: TOOLS.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: { ...schema } },
      })),
    })
    const deltas: string[] = []
    stream.on('content', (delta) => deltas.push(delta))
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0]!
    expect([deltas.length > 2, deltas.join('')]).toEqual([true, message.content])
    const calls = (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [call] : [],
    )
    expect(finish_reason).toBe(calls.length > 0 ? 'tool_calls' : 'stop')
    if (calls.length === 0) {
      expect(message.content).toMatch(REPORT)
      break
    }
    messages.push({
      role: 'assistant',
      content: message.content,
      tool_calls: calls.map(({ id, type, function: { name, arguments: json } }) => ({
        id,
        type,
        function: { name, arguments: json },
      })),
    })
    for (const { id, function: called } of calls) {
      const input: unknown = JSON.parse(called.arguments)
      used.push([called.name, input])
      messages.push({ role: 'tool', tool_call_id: id, content: use(called.name, input) })
    }
  }
  expect(used).toEqual(USED)
  expect((await client.models.list()).data[0]?.id).toBe('rehearsal')
  await vendor.close()
})

test('the SDK of OpenAI completes a tool loop over one WebSocket, sending only new items', async () => {
  const vendor = await openRehearsal()
  const client = new OpenAI({ apiKey: 'any', baseURL: vendor.baseUrl('responses') })
  const socket = new ResponsesWS(client)
  onTestFinished(() => socket.close())
  const events = socketEvents(socket)
  const used: unknown[] = []
  let input: ResponseInputItem[] = [{ role: 'user', content: ASK }]
  let previous: string | undefined
  for (;;) {
    socket.send({
      type: 'response.create',
      model: 'any',
      input,
      tools: RESPONSES_TOOLS,
      store: false,
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    })
    const answer = await lastOf(events)
    previous = answer.id
    input = resultsOf(answer.output, used)
    if (input.length > 0) continue
    const [message] = answer.output
    expect(message?.type === 'message' ? message.content : []).toEqual([
      expect.objectContaining({ text: expect.stringMatching(REPORT) as unknown }),
    ])
    break
  }
  expect(used).toEqual(USED)
  expect(vendor.requests.map(({ transport, status }) => [transport, status])).toEqual(
    Array.from({ length: 3 }, () => ['websocket', 200]),
  )
  await vendor.close()
})

async function* socketEvents(socket: ResponsesWS): AsyncGenerator<ResponseStreamEvent> {
  for await (const message of socket.stream()) {
    if (message.type === 'error') throw message.error
    if (message.type === 'message') yield message.message
  }
}

async function lastOf(events: AsyncGenerator<ResponseStreamEvent>) {
  for (;;) {
    const next = await events.next()
    if (next.done === true) throw new Error('the socket ended')
    if (next.value.type === 'response.completed') return next.value.response
  }
}
