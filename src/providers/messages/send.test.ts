import { Anthropic } from '@anthropic-ai/sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  scriptedServer,
  type ScriptedAnswer,
} from '../../../test/support/providers/vendor-server.ts'
import { systemClock } from '../../host/clock.ts'
import type { ProviderEvent } from '../provider.ts'
import { messagesProvider } from './stream.ts'

const EVENTS = [
  { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 3 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const ANSWER = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

const EXPECTED: ProviderEvent[] = [
  { type: 'text_delta', text: 'Hello.' },
  { type: 'item', item: { kind: 'text', text: 'Hello.' } },
  {
    type: 'done',
    stop_reason: 'end_turn',
    usage: { input: 3, cached_read: 0, cache_write: 0, output: 2, reasoning: 0 },
    raw: { id: 'msg_1' },
  },
]

const BODY = Buffer.from(
  '{"model":"claude-x", "max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}',
)

async function answering(answer: ScriptedAnswer) {
  const server = await scriptedServer(() => answer)
  onTestFinished(() => server.close())
  return server
}

async function stream(baseUrl: string, key: string | undefined): Promise<ProviderEvent[]> {
  const provider = messagesProvider({ key, baseUrl, idleMs: 60_000, clock: systemClock })
  const events: ProviderEvent[] = []
  for await (const event of provider.stream(BODY, new AbortController().signal)) events.push(event)
  return events
}

test.each(['sk-own', undefined])(
  'with the key %s, a body is sent unchanged, with nothing from the environment',
  async (key) => {
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'x-other: 1\nauthorization: Bearer other')
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'other')
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:1')
    onTestFinished(() => void vi.unstubAllEnvs())
    const server = await answering({ body: ANSWER.join('') })
    expect(await stream(server.baseUrl('messages'), key)).toEqual(EXPECTED)
    const [request] = server.requests
    const { host: _, connection: __, ...headers } = request?.headers ?? {}
    expect([request?.method, request?.path, request?.bytes.equals(BODY), headers]).toEqual([
      'POST',
      '/v1/messages',
      true,
      {
        accept: 'text/event-stream',
        'accept-encoding': 'identity',
        'anthropic-version': expect.any(String),
        'content-length': String(BODY.length),
        'content-type': 'application/json',
        'user-agent': 'hawser',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
    ])
  },
)

test('the API version and the authentication are those of the SDK', async () => {
  const server = await answering({ body: ANSWER.join('') })
  const baseURL = server.baseUrl('messages')
  await stream(baseURL, 'sk')
  const client = new Anthropic({ apiKey: 'sk', authToken: null, baseURL, maxRetries: 0 })
  const params = { model: 'claude-x', max_tokens: 9, stream: true } as const
  const messages = [{ role: 'user' as const, content: 'hi' }]
  await client.messages.create({ ...params, messages }).asResponse()
  const [own, other] = server.requests.map(({ path, headers }) => {
    const { authorization, 'anthropic-version': version, 'x-api-key': key } = headers
    return { path, authorization, version, key }
  })
  expect(own).toEqual(other)
})

test.each<[string, ScriptedAnswer]>([
  ['auth', fault(401, 'authentication_error')],
  ['rate_limited', fault(429, 'rate_limit_error')],
  ['overloaded', fault(529, 'overloaded_error')],
  ['invalid_args', fault(400, 'invalid_request_error')],
  ['network', 'cut'],
])('an error in place of an answer is reported once, as %s', async (kind, answer) => {
  const server = await answering(answer)
  expect(await stream(server.baseUrl('messages'), 'sk')).toMatchObject([
    { type: 'error', error: { kind } },
  ])
  expect(server.requests).toHaveLength(1)
})

function fault(status: number, type: string): ScriptedAnswer {
  const body = { type: 'error', error: { type, message: 'No.' }, request_id: 'req_1' }
  return { status, body: JSON.stringify(body) }
}
