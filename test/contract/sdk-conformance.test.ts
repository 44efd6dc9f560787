import { Anthropic } from '@anthropic-ai/sdk'
import { OpenAI } from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../src/host/clock.ts'
import { bundleScript } from '../support/host/bundle-script.ts'
import { freshFolder } from '../support/host/folder.ts'
import type * as vendorSenders from '../support/providers/vendor-senders.ts'
import { serveHttp } from '../support/host/loopback-server.ts'

type Senders = typeof vendorSenders

/** Bundled as the program is: there the SDKs have our headers instead of Node's. */
let senders: Senders['senders']
beforeAll(async () => {
  const folder = await freshFolder()
  const script = new URL('../support/providers/vendor-senders.ts', import.meta.url)
  const path = await bundleScript(script, folder, { inParts: true })
  const loaded = (await import(pathToFileURL(path).href)) as Senders
  senders = loaded.senders
})

const KEY = 'key-of-the-test'
const MODEL = 'any-model'
const MESSAGES = {
  model: MODEL,
  max_tokens: 5,
  stream: true as const,
  messages: [{ role: 'user' as const, content: 'Größe 🚢' }],
}
const RESPONSES = { model: MODEL, stream: true as const, store: false, input: 'Größe 🚢' }
const CHAT = { model: MODEL, stream: true as const, messages: MESSAGES.messages }

/** A request as a vendor sees it. */
interface Sent {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** Headers in which we differ from an SDK on purpose: each with what we send, or `undefined` if nothing. */
const OURS: Readonly<Record<string, string | undefined>> = {
  // Events are asked for, and nothing compressed: our own reader has limits on what it reads.
  accept: 'text/event-stream',
  'accept-encoding': 'identity',
  'accept-language': undefined,
  'sec-fetch-mode': undefined,
  // Says who sends. The SDKs also describe this machine, and how often they tried and how long they wait: we do that.
  'user-agent': 'hawser',
  'x-stainless-arch': undefined,
  'x-stainless-lang': undefined,
  'x-stainless-os': undefined,
  'x-stainless-package-version': undefined,
  'x-stainless-retry-count': undefined,
  'x-stainless-runtime': undefined,
  'x-stainless-runtime-version': undefined,
  'x-stainless-timeout': undefined,
}

/** Each part in which the request of the program differs from that of the SDK alone, unless `OURS` explains it. */
function drift(ours: Sent, alone: Sent): readonly string[] {
  const names = new Set([...Object.keys(ours.headers), ...Object.keys(alone.headers)])
  const headers = [...names]
    .filter((name) => !(name in OURS && ours.headers[name] === OURS[name]))
    .filter((name) => ours.headers[name] !== alone.headers[name])
    .map((name) => `${name}: ${String(ours.headers[name])}, not ${String(alone.headers[name])}`)
  const rest = (['method', 'path', 'body'] as const).filter(
    (part) => JSON.stringify(ours[part]) !== JSON.stringify(alone[part]),
  )
  return [...headers, ...rest]
}

async function vendor() {
  const seen: Sent[] = []
  const { url } = await serveHttp((request, response) => {
    void readAll(request).then((body) => {
      const { method, url: path, headers } = request
      seen.push({ method, path, headers, body: JSON.parse(body) })
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: [DONE]\n\n')
    })
  })
  const origin = url.slice(0, -1)
  const options = { key: KEY, idleMs: 60_000, clock: systemClock }
  return { seen, origin, options }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const body: AsyncIterable<Buffer> = request
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** What the vendor sees of one call of the program, and of the same call of the SDK alone. */
async function bothWays(dialect: 'messages' | 'responses' | 'chat'): Promise<[Sent, Sent]> {
  const { seen, origin, options } = await vendor()
  const stop = new AbortController().signal
  const baseURL = dialect === 'messages' ? origin : `${origin}/v1`
  const own = { ...options, baseUrl: baseURL }
  if (dialect === 'messages') {
    await senders.anthropicSender(own)(Buffer.from(JSON.stringify(MESSAGES)), stop)
    await new Anthropic({ apiKey: null, authToken: KEY, baseURL }).messages.create(MESSAGES)
  } else {
    const body = dialect === 'responses' ? RESPONSES : CHAT
    await senders.openaiSender(dialect, own)(Buffer.from(JSON.stringify(body)), stop)
    const client = new OpenAI({ apiKey: KEY, baseURL })
    if (dialect === 'responses') await client.responses.create(RESPONSES)
    else await client.chat.completions.create(CHAT)
  }
  const [ours, alone] = seen
  if (ours === undefined || alone === undefined) throw new Error(`${seen.length} requests`)
  return [ours, alone]
}

test.each(['messages', 'responses', 'chat'] as const)(
  '%s: the vendor sees the request of its SDK, except for headers that are ours on purpose',
  async (dialect) => {
    const [ours, alone] = await bothWays(dialect)
    expect(drift(ours, alone)).toEqual([])
    expect(ours.headers).toMatchObject({ accept: 'text/event-stream', 'user-agent': 'hawser' })
    expect(ours.headers['authorization']).toBe(`Bearer ${KEY}`)
  },
)

test('websocket: the vendor sees the handshake and the message of its SDK', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  await once(server, 'listening')
  const address = server.address()
  if (typeof address === 'string' || address === null) throw new Error('no port')
  const baseURL = `http://127.0.0.1:${address.port}/v1`
  const sent: Sent[] = []
  server.on('connection', (socket, { method, url: path, headers }) => {
    socket.once('message', (data) => {
      const text = Buffer.isBuffer(data) ? data.toString('utf8') : ''
      const { 'sec-websocket-key': _random, ...rest } = headers
      sent.push({ method, path, headers: rest, body: JSON.parse(text) })
      socket.send('{"type":"done"}')
    })
  })
  const message = { type: 'response.create' as const, model: MODEL, input: 'Größe 🚢' }
  const own = { key: KEY, baseUrl: baseURL, idleMs: 60_000, clock: systemClock }
  const { socket, connection } = senders.openSocket(own)
  await socket.call([Buffer.from(JSON.stringify(message))], connection).next()
  socket.close()

  const alone = new ResponsesWS(new OpenAI({ apiKey: KEY, baseURL }))
  alone.on('error', () => {})
  const platform = alone.socket.platformSocket
  await once(platform, 'open')
  alone.send(message)
  await once(platform, 'message')
  alone.close()

  const [ours, theirs] = sent
  if (ours === undefined || theirs === undefined) throw new Error(`${sent.length} messages`)
  // Compression is off: it would need memory for every socket.
  const { 'sec-websocket-extensions': compression, ...headers } = theirs.headers
  expect(compression).toContain('permessage-deflate')
  expect(drift(ours, { ...theirs, headers })).toEqual([])
})

test('a method, header, path or body that drifts is reported', async () => {
  const [ours, alone] = await bothWays('messages')
  const planted = {
    ...alone,
    method: 'PUT',
    path: '/v2/messages',
    headers: { ...alone.headers, 'anthropic-version': '2099-01-01', 'anthropic-new': '1' },
    body: { ...MESSAGES, max_tokens: 6 },
  }
  expect(drift(ours, planted)).toEqual([
    `anthropic-version: ${String(ours.headers['anthropic-version'])}, not 2099-01-01`,
    'anthropic-new: undefined, not 1',
    'method',
    'path',
    'body',
  ])
})
