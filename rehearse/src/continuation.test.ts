import { once } from 'node:events'
import { OpenAI, BadRequestError } from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  openRehearsal,
  type RehearsalVendor,
} from '../../test/support/providers/rehearsal-server.ts'

const TOOLS = [
  { type: 'function' as const, name: 'read', parameters: { type: 'object' }, strict: false },
]
const ASK = { model: 'm', tools: TOOLS, input: 'Read a.txt' }

function clientOf(vendor: RehearsalVendor): OpenAI {
  return new OpenAI({ apiKey: 'any', baseURL: vendor.baseUrl('responses'), maxRetries: 0 })
}

function resultFor(output: readonly OutputItem[]) {
  const { call_id } = output.find(({ type }) => type === 'function_call') ?? {}
  return {
    type: 'function_call_output' as const,
    call_id: call_id ?? '',
    output: 'the text of a',
  }
}

interface OutputItem {
  readonly type: string
  readonly call_id?: string | null
}

interface Message {
  readonly type: string
  readonly status?: number
  readonly error?: Readonly<Record<string, unknown>>
  readonly response?: {
    readonly id: string
    readonly output: readonly OutputItem[]
    readonly usage: { readonly input_tokens: number }
  }
}

/** A socket of a client without an SDK. */
async function socketTo(
  vendor: Pick<RehearsalVendor, 'origin'>,
  switches = '',
  headers: Readonly<Record<string, string>> = {},
) {
  const origin = vendor.origin.replace('http:', 'ws:')
  const socket = new WebSocket(`${origin}${switches}/v1/responses`, {
    headers: { authorization: 'Bearer any', ...headers },
  })
  onTestFinished(() => socket.terminate())
  const waiting: ((message: Message | 'closed') => void)[] = []
  const received: (Message | 'closed')[] = []
  const deliver = (message: Message | 'closed') => {
    const next = waiting.shift()
    if (next === undefined) received.push(message)
    else next(message)
  }
  socket.on('message', (data: Buffer) => deliver(JSON.parse(data.toString()) as Message))
  socket.on('close', () => deliver('closed'))
  await once(socket, 'open')
  const next = () => {
    const message = received.shift()
    return message === undefined
      ? new Promise<Message | 'closed'>((resolve) => void waiting.push(resolve))
      : Promise.resolve(message)
  }
  return {
    /** The last message of the answer to what was sent. */
    ask: async (event: object): Promise<Message | 'closed'> => {
      socket.send(JSON.stringify(event))
      for (;;) {
        const message = await next()
        if (message === 'closed' || /^(?:error|response\.completed)$/.test(message.type)) {
          return message
        }
      }
    },
    create(more: object) {
      return this.ask({ type: 'response.create', ...ASK, ...more })
    },
  }
}

function responseIn(message: Message | 'closed') {
  if (message === 'closed' || message.response === undefined) throw new Error('no response')
  return message.response
}

test('over HTTP, a request with the id of the previous response sends only new items', async () => {
  const vendor = await openRehearsal()
  const client = clientOf(vendor)
  const first = await client.responses.create(ASK)
  const input = [resultFor(first.output)]
  const second = await client.responses.create({
    ...ASK,
    input,
    previous_response_id: first.id,
  })
  expect(second.output_text).toContain('> the text of a')
  expect(second.previous_response_id).toBe(first.id)
  expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? Infinity)
  const again = await client.responses.create({ ...ASK, input, previous_response_id: first.id })
  expect(again.output_text).toBe(second.output_text)
  await vendor.close()
})

test('over HTTP, an unknown previous response is refused, and the error names it', async () => {
  const vendor = await openRehearsal({ store: { entries: 2, bytes: 1_000_000 } })
  const client = clientOf(vendor)
  const continueFrom = async (id: string) => {
    const response = client.responses.create({
      ...ASK,
      input: 'And now?',
      previous_response_id: id,
    })
    return response.then(
      ({ status }) => status,
      (error: unknown) => {
        if (!(error instanceof BadRequestError)) throw error
        return [error.status, error.code, error.param]
      },
    )
  }
  const refused = [400, 'previous_response_not_found', 'previous_response_id']
  expect(await continueFrom('resp_none')).toEqual(refused)
  const hidden = await client.responses.create({ model: 'm', input: 'Hello', store: false })
  expect(await continueFrom(hidden.id)).toEqual(refused)
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) {
    ids.push((await client.responses.create({ model: 'm', input: 'Hello' })).id)
  }
  expect([await continueFrom(ids[0] ?? ''), await continueFrom(ids[2] ?? '')]).toEqual([
    refused,
    'completed',
  ])
})

test('a call of the previous response must be answered', async () => {
  const vendor = await openRehearsal()
  const client = clientOf(vendor)
  const { id } = await client.responses.create(ASK)
  const response = client.responses.create({
    ...ASK,
    input: 'Never mind',
    previous_response_id: id,
  })
  await expect(response).rejects.toMatchObject({ status: 400, param: 'input' })
})

test('a socket continues its own last response, stored or not, and stored ones of any client', async () => {
  const vendor = await openRehearsal()
  const socket = await socketTo(vendor)
  const first = responseIn(await socket.create({ store: false }))
  const results = [resultFor(first.output)]
  const elsewhere = await (
    await socketTo(vendor)
  ).create({
    input: results,
    previous_response_id: first.id,
  })
  expect(elsewhere).toMatchObject({
    type: 'error',
    status: 400,
    error: {
      type: 'invalid_request_error',
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    },
  })
  const second = responseIn(
    await socket.create({ input: results, previous_response_id: first.id, store: true }),
  )
  const other = await socketTo(vendor)
  const third = await other.create({ input: 'Thanks', previous_response_id: second.id })
  expect(third).toMatchObject({ type: 'response.completed' })
  const overHttp = await clientOf(vendor).responses.create({
    model: 'm',
    input: 'Thanks',
    previous_response_id: second.id,
  })
  expect(overHttp.status).toBe('completed')
})

test('a refused request over a socket gets the reason, and the socket stays open', async () => {
  const vendor = await openRehearsal()
  const socket = await socketTo(vendor)
  const refusalOf = async (event: object) => {
    const message = await socket.ask(event)
    return message === 'closed' ? message : [message.status, message.error?.['param']]
  }
  expect(await refusalOf({ type: 'session.update' })).toEqual([400, 'type'])
  expect(await refusalOf([])).toEqual([400, 'type'])
  expect(await refusalOf({ type: 'response.create', input: 'a' })).toEqual([400, 'model'])
  expect(
    await refusalOf({ type: 'response.create', model: 'm', input: 'a', max_tokens: 1 }),
  ).toEqual([400, 'max_tokens'])
  expect(responseIn(await socket.create({})).output).toHaveLength(2)
})

test('a warm-up under the socket beta gets an empty response, which the next request continues', async () => {
  const vendor = await openRehearsal({ lenient: true })
  const beta = { 'openai-beta': 'responses_websockets=2026-02-06' }
  const warmUp = { input: [{ role: 'developer', content: 'd' }], generate: false }
  const socket = await socketTo({ origin: vendor.lenientOrigin }, '', beta)
  const warm = responseIn(await socket.create(warmUp))
  expect(warm.output).toEqual([])
  const next = responseIn(await socket.create({ previous_response_id: warm.id }))
  expect(next.output.map(({ type }) => type)).toEqual(['message', 'function_call'])
  expect(next.usage.input_tokens).toBeGreaterThan(warm.usage.input_tokens)
  expect(await (await socketTo(vendor, '', beta)).create(warmUp)).toMatchObject({
    type: 'error',
    error: { param: 'generate' },
  })
})

test('the switches of a socket cause their faults in its requests', async () => {
  const vendor = await openRehearsal()
  const at = async (switches: string, more: object = {}) => {
    const message = await (await socketTo(vendor, `/~${switches}`)).create(more)
    return message === 'closed' ? message : [message.type, message.status]
  }
  expect(await at('close')).toBe('closed')
  expect(await at('cut:900')).toBe('closed')
  expect(await at('status:429,retry-after:1')).toEqual(['error', 429])
  expect(await at('overflow:10')).toEqual(['error', 400])
  expect(await at('delay:1')).toEqual(['response.completed', undefined])
  const image =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const content = [
    { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${image}` },
  ]
  expect(await at('refuse-images', { input: [{ role: 'user', content }] })).toEqual(['error', 400])
})

test('a socket without a key, or to another path, is refused', async () => {
  const vendor = await openRehearsal()
  const origin = vendor.origin.replace('http:', 'ws:')
  const statusOf = async (path: string, headers: Record<string, string>) => {
    const socket = new WebSocket(`${origin}${path}`, { headers })
    const [, response] = (await once(socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number; resume(): void },
    ]
    response.resume()
    return response.statusCode
  }
  const key = { authorization: 'Bearer any' }
  expect(await statusOf('/v1/responses', {})).toBe(401)
  expect(await statusOf('/v1/messages', key)).toBe(404)
  expect(await statusOf('/~explode/v1/responses', key)).toBe(400)
  expect(await statusOf('/v1/responses', { ...key, host: 'example.com' })).toBe(403)
})

test('a client that disconnects a socket during an answer affects no other client', async () => {
  const vendor = await openRehearsal()
  const socket = new ResponsesWS(clientOf(vendor))
  socket.on('error', () => {})
  const created = new Promise<void>((resolve) => {
    socket.on('response.created', () => {
      socket.socket.platformSocket.terminate()
      resolve()
    })
  })
  socket.send({ type: 'response.create', ...ASK })
  await created
  expect((await clientOf(vendor).responses.create(ASK)).status).toBe('completed')
})
