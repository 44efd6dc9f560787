import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk'
import { LLMock, type Fixture } from '@copilotkit/aimock'
import OpenAI, { APIError as OpenAIError } from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { sseOf, type VendorAnswer, type VendorCall } from './vendor-answer.ts'
import type { VendorDialect } from './vendor-schemas.ts'
import {
  aimockServer,
  scriptedServer,
  type RecordedRequest,
  type ScriptedAnswer,
  type VendorServer,
} from './vendor-server.ts'

const DIALECTS = ['messages', 'responses', 'chat'] as const
const QUESTION = 'How deep is the harbour?'
const ANSWER = 'Twelve metres at low tide. ⚓'
const CALL = { id: 'call_1', name: 'sound', arguments: '{"place":"harbour"}' }

/** A question, a tool call, its result and an answer, through the vendor's own SDK. */
const ROUND_TRIPS: Record<VendorDialect, (baseURL: string) => Promise<[VendorCall[], string]>> = {
  messages: async (baseURL) => {
    const client = new Anthropic({ baseURL, apiKey: 'key', maxRetries: 0 })
    const params = {
      model: 'm',
      max_tokens: 100,
      tools: [{ name: 'sound', input_schema: { type: 'object' as const } }],
    }
    const question: Anthropic.MessageParam = { role: 'user', content: QUESTION }
    const first = await client.messages.stream({ ...params, messages: [question] }).finalMessage()
    const calls = first.content.filter((block) => block.type === 'tool_use')
    const second = await client.messages
      .stream({
        ...params,
        messages: [
          question,
          { role: 'assistant', content: calls },
          {
            role: 'user',
            content: calls.map(({ id }) => ({
              type: 'tool_result' as const,
              tool_use_id: id,
              content: '12',
            })),
          },
        ],
      })
      .finalMessage()
    return [
      calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
      second.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    ]
  },

  responses: async (baseURL) => {
    const client = new OpenAI({ baseURL, apiKey: 'key', maxRetries: 0 })
    const params: Pick<OpenAI.Responses.ResponseCreateParams, 'model' | 'tools'> = {
      model: 'm',
      tools: [{ type: 'function', name: 'sound', parameters: {}, strict: false }],
    }
    const question: OpenAI.Responses.ResponseInputItem = { role: 'user', content: QUESTION }
    const first = await client.responses.stream({ ...params, input: [question] }).finalResponse()
    const calls = first.output.filter((item) => item.type === 'function_call')
    const items = calls.flatMap(({ call_id, name, arguments: json }) => [
      { type: 'function_call' as const, call_id, name, arguments: json },
      { type: 'function_call_output' as const, call_id, output: '12' },
    ])
    const second = await client.responses
      .stream({ ...params, input: [question, ...items] })
      .finalResponse()
    return [
      calls.map(({ call_id, name, arguments: json }) => ({ id: call_id, name, arguments: json })),
      second.output_text,
    ]
  },

  chat: async (baseURL) => {
    const client = new OpenAI({ baseURL, apiKey: 'key', maxRetries: 0 })
    const params = {
      model: 'm',
      tools: [{ type: 'function' as const, function: { name: 'sound' } }],
    }
    const question = { role: 'user' as const, content: QUESTION }
    const first = await client.chat.completions
      .stream({ ...params, messages: [question] })
      .finalMessage()
    const calls = (first.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ id: call.id, ...call.function }] : [],
    )
    const tool_calls = calls.map(({ id, ...called }) => ({
      id,
      type: 'function' as const,
      function: called,
    }))
    const second = await client.chat.completions
      .stream({
        ...params,
        messages: [
          question,
          { role: 'assistant', content: null, tool_calls },
          ...calls.map(({ id }) => ({
            role: 'tool' as const,
            tool_call_id: id,
            content: '12',
          })),
        ],
      })
      .finalMessage()
    return [calls, second.content ?? '']
  },
}

const FIXTURES: Fixture[] = [
  { match: { userMessage: QUESTION, hasToolResult: false }, response: { toolCalls: [CALL] } },
  { match: { toolCallId: CALL.id }, response: { content: ANSWER }, chunkSize: 5 },
]

for (const dialect of DIALECTS) {
  test(`the vendor's SDK makes a round trip with a tool against fixtures: ${dialect}`, async () => {
    const server = closing(await aimockServer(FIXTURES))
    expect(await ROUND_TRIPS[dialect](server.baseUrl(dialect))).toEqual([[CALL], ANSWER])
    expect(server.requests.map((request) => request.dialect)).toEqual([dialect, dialect])
    expect(server.violations).toEqual([])
  })

  test(`the vendor's SDK makes a round trip with a tool against a script: ${dialect}`, async () => {
    const answers: VendorAnswer[] = [
      { reasoning: 'Let me sound it.', calls: [CALL] },
      { text: ANSWER },
    ]
    const server = await scripted(({ bytes }) => ({
      body: sseOf(dialect, answers[bytes.includes('"12"') ? 1 : 0] ?? {}),
    }))
    expect(await ROUND_TRIPS[dialect](server.baseUrl(dialect))).toEqual([[CALL], ANSWER])
    expect(server.requests.map(({ body }) => body)).toEqual(
      server.requests.map(({ bytes }) => JSON.parse(bytes.toString()) as unknown),
    )
  })
}

/** Valid request bodies, for requests without an SDK. */
const RIGHT: Record<VendorDialect, object> = {
  messages: { model: 'm', max_tokens: 1, stream: true, messages: [{ role: 'user', content: 'a' }] },
  responses: { model: 'm', stream: true, input: 'a' },
  chat: { model: 'm', stream: true, messages: [{ role: 'user', content: 'a' }] },
}

const INVALID = [400, 'invalid_request_error']

test('the answers of fixtures are passed on byte for byte', async () => {
  const named = { id: 'answer-1', created: 1_769_860_800, model: 'm' }
  const fixtures = [{ match: {}, response: { content: ANSWER, ...named }, chunkSize: 3 }]
  const direct = await LLMock.create({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => direct.stop())
  direct.addFixtures(fixtures)
  const server = closing(await aimockServer(fixtures))
  for (const dialect of ['messages', 'chat'] as const) {
    const [ours, theirs] = await Promise.all([
      post(server, dialect, RIGHT[dialect]),
      fetch(`${direct.url}${PATHS[dialect]}`, posted(JSON.stringify(RIGHT[dialect]))),
    ])
    expect([ours.status, ours.headers.get('content-type'), await ours.text()]).toEqual([
      theirs.status,
      theirs.headers.get('content-type'),
      await theirs.text(),
    ])
  }
})

test('an invalid request is refused as the vendor would, and closing reports it once', async () => {
  let scriptCalls = 0
  const script = () => {
    scriptCalls += 1
    return {}
  }
  for (const server of [await scriptedServer(script), await aimockServer(FIXTURES)]) {
    const anthropic = new Anthropic({ baseURL: server.baseUrl('messages'), apiKey: 'key' })
    const openai = new OpenAI({ baseURL: server.baseUrl('chat'), apiKey: 'key' })
    const wrong = { model: 'm', stream: true, unknown: 1 } as const
    const refused = await Promise.all([
      anthropic.messages.create({ ...wrong, max_tokens: 1, messages: [] }).catch(typeOfError),
      openai.responses.create({ ...wrong, input: 'a' }).catch(typeOfError),
      openai.chat.completions.create({ ...wrong, messages: [] }).catch(typeOfError),
    ])
    expect(refused).toEqual([INVALID, INVALID, INVALID])
    expect([...server.violations].sort()).toEqual([
      'POST /v1/chat/completions: the value has unknown, which is not a known field',
      'POST /v1/messages: the value has unknown, which is not a known field',
      'POST /v1/responses: the value has unknown, which is not a known field',
    ])
    expect(server.requests).toHaveLength(3)
    await expect(server.close()).rejects.toThrow('invalid requests')
    await server.close()
  }
  expect(scriptCalls).toBe(0)
})

test('what a parser would silently ignore is an invalid request', async () => {
  const right = JSON.stringify(RIGHT.chat)
  const bodies: [what: string, init: RequestInit, status: number][] = [
    ['a key twice', posted(right.replace('{', '{"n":1, "n" : 2,')), 400],
    ['half a character', posted(right.replace('"a"', String.raw`"\ud800"`)), 400],
    ['no UTF-8', posted(Buffer.from(right.replace('"a"', '"\xff"'), 'latin1')), 400],
    ['a byte order mark', posted(`\uFEFF${right}`), 400],
    ['cut off', posted(right.slice(0, -1)), 400],
    ['nothing', posted(''), 400],
    ['another method', { ...posted(right), method: 'PUT' }, 400],
    ['no type', { method: 'POST', body: right }, 400],
    ['a right one', posted(right.replace('"a"', String.raw`"\\\": \ud83d\ude00"`)), 200],
  ]
  const server = await scriptedServer(() => ({}))
  for (const [what, init, status] of bodies) {
    const { status: given } = await fetch(`${server.baseUrl('chat')}/chat/completions`, init)
    expect([what, given]).toEqual([what, status])
  }
  expect(server.violations).toHaveLength(bodies.length - 1)
  const elsewhere = await fetch(`${server.baseUrl('chat')}/completions`, posted(right))
  expect([elsewhere.status, server.requests.at(-1)?.dialect]).toEqual([404, undefined])
  await expect(server.close()).rejects.toThrow('no dialect has this path')
})

test('a script defines the status, the headers and every byte of an answer', async () => {
  const server = await scripted(() => ({
    status: 529,
    headers: { 'retry-after': '7' },
    body: '{"type":"error"}',
  }))
  const answer = await post(server, 'messages', RIGHT.messages)
  expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([
    529,
    '7',
    '{"type":"error"}',
  ])
  expect(answer.headers.get('content-type')).toBe('application/json')
})

test('a script cuts an answer after any number of bytes, or gives none', async () => {
  const whole = sseOf('chat', { text: ANSWER })
  for (const cutAfter of [0, 1, 100, whole.length]) {
    const server = await scripted(() => ({ body: whole, cutAfter }))
    const { body } = await post(server, 'chat', RIGHT.chat)
    const chunks: Uint8Array[] = []
    const reading = (async () => {
      for await (const chunk of body ?? []) chunks.push(chunk as Uint8Array)
    })()
    await expect(reading).rejects.toThrow()
    expect(Buffer.concat(chunks)).toEqual(whole.subarray(0, cutAfter))
  }
  const silent = await scripted(() => 'cut')
  await expect(post(silent, 'chat', RIGHT.chat)).rejects.toThrow()
})

test('a script pauses between two pieces, and learns that the client disconnected', async () => {
  let goOn = () => {}
  const gate = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const server = await scripted(() => ({
    body: (async function* () {
      yield 'one'
      await gate
      yield 'two'
      await new Promise(() => {})
    })(),
  }))
  const control = new AbortController()
  const { body } = await post(server, 'chat', RIGHT.chat, control.signal)
  const reader = body!.getReader()
  const next = async () => Buffer.from((await reader.read()).value ?? []).toString()
  expect(await next()).toBe('one')
  goOn()
  expect(await next()).toBe('two')
  control.abort()
  await expect(server.requests[0]?.hungUp).resolves.toBeUndefined()
})

test('closing ends an endless answer', async () => {
  const server = await scripted(() => ({
    body: (async function* () {
      yield 'one'
      await new Promise(() => {})
    })(),
  }))
  const { body } = await post(server, 'chat', RIGHT.chat)
  await server.close()
  await expect(new Response(body).text()).rejects.toThrow()
})

test('a failing script is reported', async () => {
  const server = await scriptedServer(() => {
    throw new Error('no such answer')
  })
  await expect(post(server, 'chat', RIGHT.chat)).rejects.toThrow()
  await expect(server.close()).rejects.toThrow('no such answer')
})

const PATHS: Record<VendorDialect, string> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}

function post(server: VendorServer, dialect: VendorDialect, body: object, signal?: AbortSignal) {
  const { origin } = new URL(server.baseUrl(dialect))
  return fetch(`${origin}${PATHS[dialect]}`, {
    ...posted(JSON.stringify(body)),
    signal: signal ?? null,
  })
}

function posted(body: string | Buffer) {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body }
}

function typeOfError(error: unknown): unknown {
  if (error instanceof AnthropicError || error instanceof OpenAIError) {
    return [error.status, error.type]
  }
  throw error
}

async function scripted(
  script: (request: RecordedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>,
): Promise<VendorServer> {
  return closing(await scriptedServer(script))
}

function closing(server: VendorServer): VendorServer {
  onTestFinished(() => server.close())
  return server
}
