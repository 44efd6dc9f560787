import type { ClientRequest, IncomingMessage } from 'node:http'
import { systemClock, type Clock } from '../clock.ts'
import { HttpHeaders } from './http-headers.ts'
import { HttpResponse } from './http-response.ts'

export type Fetch = typeof fetch

/** The head of a response, and a body that is read as it arrives. A `Response` is one. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}

/** There was no response, or the connection broke. The code is the system's (`ECONNREFUSED`) or Node's. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly code: string

  // The message is constant, because code that wraps errors searches it for words.
  constructor(code: string) {
    super('The connection failed.')
    this.code = code
  }
}

export interface HttpOptions {
  readonly clock?: Clock
  /** The path of a socket to connect to, whatever host a URL names. Only for `http:`. */
  readonly socket?: string | undefined
}

/** Covers name resolution, connection and handshake. */
const CONNECT_MS = 30_000
/** Shorter than the five seconds after which many local servers close an idle connection. */
export const UNUSED_CONNECTION_MS = 4_000
/** For error responses; longer bodies are truncated. */
const LONGEST_ERROR_BODY = 1024 * 1024
export const WITHOUT_BODY = new Set([204, 205, 304])

/**
 * A `fetch` based on Node's HTTP client: follows no redirects, decompresses nothing, retries nothing, and has no timeout
 * except the one to connect. Rejects with an `HttpFailure`, or with an `AbortError` when the signal is aborted, which also
 * destroys the connection at any time until the body has ended. Connections are kept for the next request; idle ones do not
 * keep the process alive. Accepts text and bytes as a body, and sends bytes unchanged.
 */
export function httpFetch({ clock = systemClock, socket }: HttpOptions = {}): Fetch {
  const clientOf = clients(socket)
  return async (input, init = {}) => {
    const url = addressOf(input)
    const { method = 'GET', headers, body, signal } = init
    const bytes = bodyBytes(body)
    const open = await clientOf(url.protocol)
    return new Promise<Response>((resolve, reject) => {
      if (signal?.aborted === true) throw abortError()
      const request = open(url, method, headersOf(headers, bytes))
      const abort = () => void request.destroy(abortError())
      signal?.addEventListener('abort', abort)
      request.once('close', () => signal?.removeEventListener('abort', abort))
      limitConnecting(request, clock)
      // The listener stays for the whole request: an error during the body is reported by the body.
      request.on('error', (error) => reject(failureOf(error, signal)))
      request.once('response', (incoming) => {
        try {
          resolve(responseOf(incoming, signal))
        } catch {
          request.destroy(new HttpFailure('ERR_HTTP_INVALID_ANSWER'))
        }
      })
      sendBody(request, bytes)
    })
  }
}

export type FetchSignal = AbortSignal | null | undefined
type Open = (url: URL, method: string, headers: Record<string, string>) => ClientRequest

/** Loaded on first use, since most commands need no network. */
function clients(socket: string | undefined): (protocol: string) => Promise<Open> {
  const opened = new Map<string, Promise<Open>>()
  return (protocol) => {
    const open =
      opened.get(protocol) ?? (protocol === 'https:' ? secureClient() : plainClient(socket))
    opened.set(protocol, open)
    return open
  }
}

async function plainClient(socketPath: string | undefined): Promise<Open> {
  const { Agent, request } = await import('node:http')
  const agent = new Agent({ keepAlive: true, timeout: UNUSED_CONNECTION_MS })
  const place = socketPath === undefined ? {} : { socketPath }
  return (url, method, headers) =>
    request({ ...addressParts(url), ...place, method, headers, agent })
}

async function secureClient(): Promise<Open> {
  const { Agent, request } = await import('node:https')
  const agent = new Agent({ keepAlive: true, timeout: UNUSED_CONNECTION_MS })
  return (url, method, headers) => request({ ...addressParts(url), method, headers, agent })
}

/** Not the URL itself: Node would print it into its debug output, with a secret that may be in it. */
function addressParts({ protocol, hostname, port, pathname, search }: URL) {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return { protocol, hostname: host, port, path: `${pathname}${search}` }
}

export function addressOf(input: Parameters<Fetch>[0]): URL {
  if (typeof input === 'string') return new URL(input)
  if (input instanceof URL) return input
  throw new TypeError('expected a URL')
}

export function bodyBytes(body: RequestInit['body']): Uint8Array | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  throw new TypeError('expected a body of text or bytes')
}

function headersOf(
  given: RequestInit['headers'],
  body: Uint8Array | undefined,
): Record<string, string> {
  const length = body === undefined ? {} : { 'content-length': String(body.length) }
  return {
    ...Object.fromEntries(new HttpHeaders(given)),
    'accept-encoding': 'identity',
    ...length,
  }
}

/** The size of one write. */
const PIECE_BYTES = 1024 * 1024

/**
 * Writes each piece when the previous one is sent: encrypting a large body at once would need two more copies of it in
 * memory.
 */
function sendBody(request: ClientRequest, body: Uint8Array = new Uint8Array()): void {
  let at = 0
  const sendMore = () => {
    while (body.length - at > PIECE_BYTES) {
      const piece = body.subarray(at, at + PIECE_BYTES)
      at += piece.length
      if (!request.write(piece)) return void request.once('drain', sendMore)
    }
    request.end(body.subarray(at))
  }
  sendMore()
}

export function limitConnecting(request: ClientRequest, clock: Clock): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const cancel = clock.after(CONNECT_MS, () => void request.destroy(new HttpFailure('ETIMEDOUT')))
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', cancel)
    request.once('close', cancel)
  })
}

function responseOf(incoming: IncomingMessage, signal: FetchSignal): Response {
  const headers = new HttpHeaders()
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '')
  }
  const { statusCode: status = 0 } = incoming
  if (!WITHOUT_BODY.has(status)) {
    return new HttpResponse(bodyOf(incoming, status, signal), { status, headers })
  }
  incoming.resume()
  return new HttpResponse(null, { status, headers })
}

/** Read on demand. Cancelling it closes the connection. */
function bodyOf(incoming: IncomingMessage, status: number, signal: FetchSignal) {
  const chunks: AsyncIterator<Buffer> = incoming[Symbol.asyncIterator]()
  let left = status < 400 ? Infinity : LONGEST_ERROR_BODY
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await chunks.next()
          if (next.done === true) return controller.close()
          controller.enqueue(next.value.subarray(0, left))
          left -= next.value.length
          if (left > 0) return
          controller.close()
          incoming.destroy()
        } catch (error) {
          controller.error(failureOf(error, signal))
        }
      },
      cancel: () => void incoming.destroy(),
    },
    { highWaterMark: 0 },
  )
}

export function failureOf(error: unknown, signal: FetchSignal): Error {
  if (signal?.aborted === true) return abortError()
  if (error instanceof HttpFailure) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return new HttpFailure(typeof code === 'string' ? code : 'ECONNRESET')
}

export function abortError(): Error {
  return new DOMException('The request was aborted.', 'AbortError')
}
