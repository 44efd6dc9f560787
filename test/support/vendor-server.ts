import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Fixture, MockServerOptions } from '@copilotkit/aimock'
import { readBody } from './vendor-body.ts'
import type { VendorDialect } from './vendor-schemas.ts'

/** A vendor on this machine. It takes only bodies that the types of the vendor's SDK allow. */
export interface VendorServer {
  /** What the vendor's SDK takes as its `baseURL`. */
  baseUrl(dialect: VendorDialect): string
  /** Every request whose body came whole, in the order of arrival. */
  readonly requests: readonly RecordedRequest[]
  /** What was wrong with requests; each of them was answered with 400, in the vendor's shape. */
  readonly violations: readonly string[]
  /**
   * Ends every connection. Rejects when there are violations that no call before this one rejected with, so that a test cannot
   * overlook them.
   */
  close(): Promise<void>
}

export interface RecordedRequest {
  /** `undefined` for a path that no dialect has. */
  readonly dialect: VendorDialect | undefined
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** `undefined` when the bytes are no JSON. */
  readonly body: unknown
  /** Resolves if the connection is gone before the answer was whole. */
  readonly hungUp: Promise<void>
}

/** `'cut'`: the connection ends without a word. */
export type ScriptedAnswer = 'cut' | RawAnswer

export interface RawAnswer {
  /** 200 if absent. */
  readonly status?: number
  /** Beside `content-type`, which is that of a stream for 200 and of JSON for any other status. */
  readonly headers?: Readonly<Record<string, string>>
  /** Each piece is sent at once; a generator may wait for whatever it likes between two of them. */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
  /** After so many bytes of the body the connection ends, without the end of the body. */
  readonly cutAfter?: number
}

type Respond = (request: RecordedRequest, response: ServerResponse) => Promise<void>

const DIALECTS: ReadonlyMap<string, VendorDialect> = new Map([
  ['/v1/messages', 'messages'],
  ['/v1/responses', 'responses'],
  ['/v1/chat/completions', 'chat'],
])

/** Answers by fixtures that `@copilotkit/aimock` understands, in all dialects, byte for byte as it wrote them. */
export async function aimockServer(
  fixtures: readonly Fixture[],
  options: Omit<MockServerOptions, 'host' | 'port'> = {},
): Promise<VendorServer> {
  const { LLMock } = await import('@copilotkit/aimock')
  const mock = new LLMock({ ...options, host: '127.0.0.1', port: 0 })
  await mock.addFixtures([...fixtures]).start()
  return open(
    (request, response) => passOn(request, mock.url, response),
    () => mock.stop(),
  )
}

/** Answers as the test says, to the byte. The answer to a request is what `script` gives for it; it is asked for right ones only. */
export async function scriptedServer(
  script: (request: RecordedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>,
): Promise<VendorServer> {
  return open(async (request, response) => {
    await play(await script(request), response)
  })
}

async function open(respond: Respond, stop = async () => {}): Promise<VendorServer> {
  const requests: RecordedRequest[] = []
  const violations: string[] = []
  const take = async (incoming: IncomingMessage, response: ServerResponse) => {
    const taken = await received(incoming, response)
    if (taken === undefined) return
    const { request, errors } = taken
    const remember = (error: string) => {
      violations.push(`${request.method} ${request.path}: ${error}`)
    }
    requests.push(request)
    errors.forEach(remember)
    if (errors.length > 0) return refuse(request, errors.join('; '), response)
    await respond(request, response).catch((error: unknown) => {
      remember(`no answer, because of ${String(error)}`)
      response.destroy()
    })
  }
  const server = createServer((incoming, response) => void take(incoming, response))
  const closed = once(server, 'close')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port to listen on')
  const origin = `http://127.0.0.1:${address.port}`
  let told = 0
  return {
    requests,
    violations,
    baseUrl: (dialect) => (dialect === 'messages' ? origin : `${origin}/v1`),
    close: async () => {
      if (server.listening) {
        server.close()
        server.closeAllConnections()
        await stop()
      }
      await closed
      const untold = violations.slice(told)
      told = violations.length
      if (untold.length > 0) throw new Error(`wrong requests:\n${untold.join('\n')}`)
    },
  }
}

/** `undefined` when the other side went away in the middle of its request. */
async function received(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<{ request: RecordedRequest; errors: readonly string[] } | undefined> {
  const hungUp = new Promise<void>((resolve) => {
    response.once('close', () => {
      if (!response.writableFinished) resolve()
    })
  })
  const bytes = await bytesOf(incoming).catch(() => undefined)
  if (bytes === undefined) return undefined
  const { method = '', url: path = '', headers } = incoming
  const dialect = DIALECTS.get(path.replace(/\?.*$/s, ''))
  const { body, errors } =
    dialect === undefined
      ? { body: undefined, errors: ['no dialect has this path'] }
      : readBody(dialect, bytes)
  const json = /^application\/json\b/.test(headers['content-type'] ?? '')
  return {
    request: { dialect, method, path, headers, bytes, body, hungUp },
    errors: [
      ...(method === 'POST' ? [] : ['the method is not POST']),
      ...(json ? [] : ['the content-type is not application/json']),
      ...errors,
    ],
  }
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function refuse({ dialect }: RecordedRequest, message: string, response: ServerResponse): void {
  const type = 'invalid_request_error'
  const body =
    dialect === 'messages'
      ? { type: 'error', error: { type, message }, request_id: 'req_refused' }
      : { error: { message, type, param: null, code: null } }
  const status = dialect === undefined ? 404 : 400
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function play(answer: ScriptedAnswer, response: ServerResponse): Promise<void> {
  if (answer === 'cut') return void response.destroy()
  const { status = 200, headers, body = '', cutAfter = Infinity } = answer
  const type = status === 200 ? 'text/event-stream' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers })
  response.flushHeaders()
  let left = cutAfter
  for await (const piece of typeof body === 'string' || body instanceof Uint8Array
    ? [body]
    : body) {
    const bytes = Buffer.from(piece).subarray(0, left)
    left -= bytes.length
    await send(bytes, response)
    if (left === 0 || response.destroyed) break
  }
  if (cutAfter === Infinity) response.end()
  else response.destroy()
}

/** Resolves when the bytes, and all before them, are on their way or will never be. */
async function send(bytes: Uint8Array, response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    response.write(bytes, () => resolve())
  })
}

/** Whoever hangs up on one side hangs up on the other. */
async function passOn(
  { method, path, headers, bytes, hungUp }: RecordedRequest,
  origin: string,
  response: ServerResponse,
): Promise<void> {
  const onward = httpRequest(`${origin}${path}`, { method, headers, agent: false })
  void hungUp.then(() => onward.destroy())
  onward.end(bytes)
  const answer = await answerTo(onward)
  if (answer === undefined) return void response.destroy()
  response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
  await pipeline(answer, response).catch(() => response.destroy())
}

/** `undefined` when the connection ended without one. */
function answerTo(onward: ClientRequest): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    onward.once('response', resolve)
    onward.on('error', () => resolve(undefined))
  })
}
