import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Duplex } from 'node:stream'
import { HttpHeaders } from './http-headers.ts'
import { HttpResponse } from './http-response.ts'
import {
  abortError,
  addressOf,
  bodyBytes,
  HttpFailure,
  WITHOUT_BODY,
  type Fetch,
  type FetchSignal,
} from './http.ts'

/**
 * A `fetch` over a socket to the relay, with the contract of `httpFetch`. All calls share the socket, and a call whose answer is
 * not read holds up no other. Once the socket is closed, every call rejects.
 */
export function relayFetch(socket: Duplex): Fetch {
  let opening: Promise<ClientHttp2Session> | undefined
  return async (input, init = {}) => {
    const url = addressOf(input)
    const { method = 'GET', headers, body, signal } = init
    const bytes = bodyBytes(body) ?? new Uint8Array()
    const session = await (opening ??= sessionOn(socket))
    if (signal?.aborted === true) throw abortError()
    const stream = requestOn(session, url, {
      ...Object.fromEntries(new HttpHeaders(headers)),
      ':method': method,
      'content-length': String(bytes.length),
    })
    return relayResponse(stream, bytes, signal)
  }
}

async function sessionOn(socket: Duplex): Promise<ClientHttp2Session> {
  const { connect } = await import('node:http2')
  const session = connect('http://relay', {
    createConnection: () => socket,
    settings: { enablePush: false },
  })
  // Every call reports the failure of the session by itself.
  session.on('error', () => {})
  return session
}

function requestOn(
  session: ClientHttp2Session,
  { protocol, host, pathname, search }: URL,
  headers: Record<string, string>,
): ClientHttp2Stream {
  if (session.closed || session.destroyed) throw new HttpFailure('ECONNRESET')
  return session.request(
    {
      ...headers,
      ':scheme': protocol.slice(0, -1),
      ':authority': host,
      ':path': `${pathname}${search}`,
    },
    { endStream: false },
  )
}

function relayResponse(
  stream: ClientHttp2Stream,
  body: Uint8Array,
  signal: FetchSignal,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const abort = () => cancel(stream, abortError())
    signal?.addEventListener('abort', abort)
    // The listener stays for the whole call: an error during the body is reported by the body.
    stream.on('error', (error) => reject(failureOf(error, signal)))
    stream.once('close', () => {
      signal?.removeEventListener('abort', abort)
      reject(failureOf(undefined, signal))
    })
    stream.once('response', (headers) => {
      try {
        resolve(responseOf(stream, headers, signal))
      } catch {
        stream.destroy(new HttpFailure('ERR_HTTP_INVALID_ANSWER'))
      }
    })
    stream.end(body)
  })
}

const CANCEL = 8

function cancel(stream: ClientHttp2Stream, error?: Error): void {
  // Only `close` tells the relay the reason.
  stream.close(CANCEL)
  stream.destroy(error)
}

function responseOf(
  stream: ClientHttp2Stream,
  {
    ':status': status = 0,
    ...given
  }: IncomingHttpHeaders & { readonly ':status'?: number | undefined },
  signal: FetchSignal,
): Response {
  const headers = new HttpHeaders()
  for (const [name, value] of Object.entries(given)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  if (!WITHOUT_BODY.has(status)) {
    return new HttpResponse(bodyOf(stream, signal), { status, headers })
  }
  stream.resume()
  return new HttpResponse(null, { status, headers })
}

/** Read on demand. Cancelling it ends the call. */
function bodyOf(stream: ClientHttp2Stream, signal: FetchSignal): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await chunks.next()
          // A stream that the relay resets ends without an error if its code is that of a cancelled call.
          if (next.done === true && stream.rstCode !== 0) throw new HttpFailure('ECONNRESET')
          if (next.done === true) controller.close()
          else controller.enqueue(next.value)
        } catch (error) {
          controller.error(failureOf(error, signal))
        }
      },
      cancel: () => cancel(stream),
    },
    { highWaterMark: 0 },
  )
}

function failureOf(error: unknown, signal: FetchSignal): Error {
  if (signal?.aborted === true) return abortError()
  // The codes of Node describe the protocol, which means nothing to the caller: the call was cut off.
  return error instanceof HttpFailure ? error : new HttpFailure('ECONNRESET')
}
