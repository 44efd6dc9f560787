import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'
import { CANARY_KEY } from '../../test/support/host/canary.ts'
import { serveHttp } from '../../test/support/host/loopback-server.ts'
import { BODY, HEAD, IDLE_MS } from '../../test/support/providers/scripted-call.ts'
import { until, virtualClock, type VirtualClock } from '../../test/support/host/virtual-clock.ts'
import { CONTENT_MS } from './call-connection.ts'
import { readAnswer } from './call.ts'
import { chatProvider } from './chat/stream.ts'
import { messagesProvider } from './messages/stream.ts'
import { onceLoaded } from './openai-client.ts'
import type { ProviderEvent } from './provider.ts'
import { ResponsesSocket } from './responses/socket.ts'
import { responsesProvider, responsesReader } from './responses/stream.ts'

const PROVIDERS = { messages: messagesProvider, chat: chatProvider, responses: responsesProvider }
type Dialect = keyof typeof PROVIDERS

/** The interval of signs of life: just below the idle limit. */
const STEP_MS = IDLE_MS - 1
const MOST_STEPS = Math.ceil(CONTENT_MS / STEP_MS)

function data(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`
}

const start = (content_block: object) => ({ type: 'content_block_start', index: 0, content_block })
const delta = (piece: object) => ({ type: 'content_block_delta', index: 0, delta: piece })
const choice = (piece: object) => ({ id: 'c', choices: [{ index: 0, delta: piece }] })
const called = { index: 0, id: 'a', type: 'function', function: { name: 'read', arguments: '' } }
const item = { type: 'function_call', id: 'f', call_id: 'a', name: 'read', arguments: '' }

const BEGUN: Readonly<Record<Dialect, string>> = {
  messages:
    data({ type: 'message_start', message: { id: 'm', model: 'x', usage: {} } }) +
    data(start({ type: 'tool_use', id: 'a', name: 'read', input: {} })),
  chat: data(choice({ tool_calls: [called] })),
  responses:
    data({ type: 'response.created', response: {} }) +
    data({ type: 'response.output_item.added', output_index: 0, item }),
}

const NO_CONTENT: readonly (readonly [Dialect, string])[] = [
  ['messages', ': comment\n\n'],
  ['messages', '\n'],
  ['messages', data({ type: 'ping' })],
  ['messages', data(delta({ type: 'input_json_delta', partial_json: '' }))],
  ['messages', data({ type: 'an_event_of_later', text: 'x' })],
  ['chat', ': OPENROUTER PROCESSING\n\n'],
  ['chat', data(choice({ content: '' }))],
  ['chat', data({ id: 'c', choices: [] })],
  ['responses', data({ type: 'response.in_progress', response: {} })],
  ['responses', data({ type: 'keepalive' })],
  [
    'responses',
    data({ type: 'response.function_call_arguments.delta', output_index: 0, delta: '' }),
  ],
]

/** Content that is not returned before it is complete. */
const CONTENT: Readonly<Record<Dialect, string>> = {
  messages: data(delta({ type: 'input_json_delta', partial_json: ' ' })),
  chat: data(choice({ tool_calls: [{ index: 0, function: { arguments: ' ' } }] })),
  responses: data({
    type: 'response.function_call_arguments.delta',
    output_index: 0,
    delta: ' ',
  }),
}

/** A call for which the server has sent the beginning of a tool call. */
async function startCall(dialect: Dialect, clock: VirtualClock) {
  let say: ((text: string) => void) | undefined
  const { url, firstClosed } = await serveHttp((_request, response) => {
    response.writeHead(200, HEAD).flushHeaders()
    say = (text) => void response.write(text)
  })
  const options = { key: CANARY_KEY, baseUrl: url.slice(0, -1), idleMs: IDLE_MS, clock }
  const stream = PROVIDERS[dialect](options).stream(BODY, new AbortController().signal)
  const reading = ended(stream)
  await until(() => say !== undefined)
  // From now on, a timer with its full time left was set when the beginning was read.
  clock.advance(1)
  say?.(BEGUN[dialect])
  await until(() => clock.pending().includes(CONTENT_MS))
  return { ...reading, firstClosed, say: (text: string) => say?.(text) }
}

/** The only event of a call that returns nothing before its end. */
function ended(stream: AsyncIterable<ProviderEvent>) {
  const seen: ProviderEvent[] = []
  const end = (async () => {
    for await (const event of stream) seen.push(event)
    return seen.map((event) => (event.type === 'error' ? event.error.kind : event.type))
  })()
  return { end, isOver: () => seen.length > 0 }
}

/** Advances the time with a sign of life at each step, and returns the number of steps until the call was abandoned. */
async function stepsUntilOver(
  clock: VirtualClock,
  { isOver, say }: { readonly isOver: () => boolean; readonly say: () => void },
): Promise<number> {
  for (let steps = 1; steps <= 3 * MOST_STEPS; steps += 1) {
    await until(() => clock.pending().length >= 2 && clock.pending().includes(IDLE_MS))
    const { set } = clock
    clock.advance(STEP_MS)
    say()
    await until(() => clock.set > set || isOver())
    if (isOver()) return steps
  }
  return Infinity
}

test('the limit in these tests is ten minutes', () => {
  expect(CONTENT_MS).toBe(600_000)
})

test.each(NO_CONTENT)('%s: %j keeps a call for ten minutes at most', async (dialect, sign) => {
  const clock = virtualClock()
  const { end, isOver, say, firstClosed } = await startCall(dialect, clock)
  expect(await stepsUntilOver(clock, { isOver, say: () => say(sign) })).toBe(MOST_STEPS)
  expect([await end, await firstClosed]).toEqual([['timeout'], 'closed'])
})

test.each(Object.entries(CONTENT))(
  '%s: arguments of a call that arrive slowly are content',
  async (name, content) => {
    const dialect = name as Dialect
    const clock = virtualClock()
    const { end, isOver, say } = await startCall(dialect, clock)
    let signs = 0
    const steps = await stepsUntilOver(clock, {
      isOver,
      say: () => {
        signs += 1
        say(signs === MOST_STEPS - 1 ? content : ': comment\n\n')
      },
    })
    expect([steps, await end]).toEqual([2 * MOST_STEPS - 1, ['timeout']])
  },
)

/** A call over a socket whose messages the test sends. */
async function overSocket(clock: VirtualClock) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const address = server.address()
  if (typeof address === 'string' || address === null) throw new Error('no port')
  const baseUrl = `http://127.0.0.1:${address.port}/v1`
  const options = { key: CANARY_KEY, baseUrl, idleMs: IDLE_MS, clock }
  const socket = new ResponsesSocket(onceLoaded(options), options)
  onTestFinished(() => {
    socket.close()
    server.close()
  })
  const accepted = new Promise<WebSocket>((resolve) => {
    server.on('connection', (one) => one.on('message', () => resolve(one)))
  })
  const events = socket.call.bind(socket, [BODY])
  const call = { events, reader: responsesReader, options }
  const reading = ended(readAnswer(call, new AbortController().signal))
  return { ...reading, server: await accepted }
}

test('websocket: messages without content keep a call for ten minutes at most', async () => {
  const clock = virtualClock()
  const { end, isOver, server } = await overSocket(clock)
  const sign = JSON.stringify({ type: 'response.in_progress', response: {} })
  const steps = await stepsUntilOver(clock, { isOver, say: () => server.send(sign) })
  expect([steps, await end]).toEqual([MOST_STEPS, ['timeout']])
})

test('websocket: pings of the protocol do not extend the idle limit', async () => {
  const clock = virtualClock()
  const { end, server } = await overSocket(clock)
  await until(() => clock.pending().includes(IDLE_MS))
  clock.advance(STEP_MS)
  const answered = once(server, 'pong')
  server.ping()
  await answered
  clock.advance(1)
  expect(await end).toEqual(['stream_idle'])
})
