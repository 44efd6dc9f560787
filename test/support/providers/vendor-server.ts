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

/** A vendor's server on this machine, which accepts only bodies that the types of the vendor's SDK allow. */
export interface VendorServer {
  /** The `baseURL` for the vendor's SDK. */
  baseUrl(dialect: VendorDialect): string
  /** Every request whose body arrived completely, in order of arrival. */
  readonly requests: readonly RecordedRequest[]
  /** The errors in requests; each such request was answered with 400, in the vendor's format. */
  readonly violations: readonly string[]
  /**
   * Closes every connection. Rejects if there are violations that no earlier call has reported, so that a test cannot
   * miss them.
   */
  close(): Promise<void>
}

export interface RecordedRequest {
  /** `undefined` if no dialect has the path. */
  readonly dialect: VendorDialect | undefined
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** `undefined` if the bytes are not JSON. */
  readonly body: unknown
  /** Resolves if the client disconnects before the end of the answer. */
  readonly hungUp: Promise<void>
}

/** `'cut'`: the connection is closed without an answer. */
export type ScriptedAnswer = 'cut' | RawAnswer

export interface RawAnswer {
  /** 200 if absent. */
  readonly status?: number
  /** Added to `content-type`, which is that of a stream for status 200 and JSON for any other status. */
  readonly headers?: Readonly<Record<string, string>>
  /** Each piece is sent at once; a generator may wait between pieces. */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
  /** The connection is cut after this many bytes of the body. */
  readonly cutAfter?: number
}

type Respond = (request: RecordedRequest, response: ServerResponse) => Promise<void>

const DIALECTS: ReadonlyMap<string, VendorDialect> = new Map([
  ['/v1/messages', 'messages'],
  ['/v1/responses', 'responses'],
  ['/v1/chat/completions', 'chat'],
])

/** Answers with fixtures of `@copilotkit/aimock`, in all dialects, byte for byte. */
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

/** Answers each valid request with exactly the bytes that `script` returns. */
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
      remember(`the script failed: ${String(error)}`)
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
  let reported = 0
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
      const unreported = violations.slice(reported)
      reported = violations.length
      if (unreported.length > 0) throw new Error(`invalid requests:\n${unreported.join('\n')}`)
    },
  }
}

/** `undefined` if the client disconnects during its request. */
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

/** Resolves when the bytes were sent or the connection failed. */
async function send(bytes: Uint8Array, response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    response.write(bytes, () => resolve())
  })
}

/** Forwards a request; if the client disconnects, so does the forwarded request. */
async function passOn(
  { method, path, headers, bytes, hungUp }: RecordedRequest,
  origin: string,
  response: ServerResponse,
): Promise<void> {
  const forwarded = httpRequest(`${origin}${path}`, { method, headers, agent: false })
  void hungUp.then(() => forwarded.destroy())
  forwarded.end(bytes)
  const answer = await answerTo(forwarded)
  if (answer === undefined) return void response.destroy()
  response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
  await pipeline(answer, response).catch(() => response.destroy())
}

/** `undefined` if the connection ends without an answer. */
function answerTo(forwarded: ClientRequest): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    forwarded.once('response', resolve)
    forwarded.on('error', () => resolve(undefined))
  })
}
