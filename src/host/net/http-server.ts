import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ok, type Result } from '../../model/errors.ts'
import { boundedServer, closeServer, listenOnPort } from './bounded-listener.ts'
import { guardRefusal } from './request-guard.ts'
import { MOST_WAITING, requestsInOrder } from './requests-in-order.ts'
import { socketServer, type SocketServer, type TakeMessages } from './socket-server.ts'

/** A received request. */
export interface LocalRequest {
  readonly method: string
  /** Including the query. */
  readonly path: string
  /** Names are lower-case. */
  readonly headers: Readonly<Record<string, string>>
  /** The complete body; absent when it exceeds the limit. */
  readonly body: Buffer | undefined
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal
}

/** `hang_up` closes the connection without a response. */
export type LocalAnswer = WrittenAnswer | 'hang_up'

export interface WrittenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Each is sent immediately. */
  readonly pieces: readonly Uint8Array[]
  /** Destroys the connection after the last piece, without ending the response. */
  readonly cut?: boolean
}

export interface LocalServerOptions {
  /** 0 selects a free port. */
  readonly port: number
  /** The maximum size of a body or a socket message in bytes. */
  readonly longest: number
  readonly handle: (request: LocalRequest) => Promise<LocalAnswer>
  /** Handles a WebSocket upgrade: returns a message handler, or the response that refuses it. */
  readonly upgrade?: (request: LocalRequest) => Promise<LocalAnswer | TakeMessages>
}

export interface LocalServer {
  readonly port: number
  /** Ends every connection. May be called twice. */
  close(): Promise<void>
}

/** Clients keep connections as long as they like: a test client may be slow. */
const BOUNDS = { idleMs: 0 }

/**
 * Serves HTTP on the loopback address only, and refuses requests that carry the host name of another site (DNS rebinding).
 * A handler that throws is answered with status 500 and stops nothing else. `invalid_args` if the port is
 * unavailable.
 */
export async function listenLocally(options: LocalServerOptions): Promise<Result<LocalServer>> {
  const server = await boundedServer(BOUNDS)
  const sockets = options.upgrade && (await socketServer(options.longest))
  const port = await listenOnPort(server, options.port)
  if (!port.ok) return port
  requestsInOrder(server, MOST_WAITING, (incoming, response) => {
    void serve(incoming, response, port.value, options)
  })
  if (sockets !== undefined) {
    server.on('upgrade', (incoming, connection, head) => {
      void upgrade({ incoming, connection, head }, port.value, options, sockets)
    })
  }
  return ok({
    port: port.value,
    close: async () => {
      sockets?.close()
      await closeServer(server)
    },
  })
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  port: number,
  { handle, longest }: LocalServerOptions,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const body = await bodyOf(incoming, longest)
  if (body === 'gone') return void response.destroy()
  const request = { ...requestHead(incoming), body, signal: gone.signal }
  const answer = isHere(incoming, port) ? await answerTo(request, handle) : ELSEWHERE
  if (answer === 'hang_up') return void response.destroy()
  response.writeHead(answer.status, answer.headers)
  for (const piece of answer.pieces) {
    if (response.destroyed) return
    await new Promise<void>((resolve) => void response.write(piece, () => resolve()))
  }
  if (answer.cut === true) response.destroy()
  else response.end()
}

interface Upgrading {
  readonly incoming: IncomingMessage
  readonly connection: Duplex
  readonly head: Buffer
}

async function upgrade(
  { incoming, connection, head }: Upgrading,
  port: number,
  { upgrade: decide = async () => 'hang_up' }: LocalServerOptions,
  sockets: SocketServer,
): Promise<void> {
  const gone = new AbortController()
  connection.once('close', () => gone.abort())
  // A client may disconnect at any time.
  connection.on('error', () => connection.destroy())
  const request = { ...requestHead(incoming), body: undefined, signal: gone.signal }
  const answer = isHere(incoming, port) ? await answerTo(request, decide) : ELSEWHERE
  if (typeof answer === 'function') return sockets.open(incoming, connection, head, answer)
  if (answer === 'hang_up') return void connection.destroy()
  const headers = Object.entries({ ...answer.headers, connection: 'close' })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const opening = Buffer.from(`HTTP/1.1 ${answer.status} Refused\r\n${lines}\r\n`)
  connection.end(Buffer.concat([opening, ...answer.pieces]))
}

/** Always returns a response. */
async function answerTo<Answer>(
  request: LocalRequest,
  handle: (request: LocalRequest) => Promise<Answer>,
): Promise<Answer | WrittenAnswer> {
  try {
    return await handle(request)
  } catch (error) {
    return plain(500, `Internal server error: ${String(error)}`)
  }
}

function isHere(incoming: IncomingMessage, port: number): boolean {
  return guardRefusal(incoming, { port }) !== 'host'
}

const ELSEWHERE = plain(403, 'This server accepts only the host names of the loopback address.')

function plain(status: number, text: string): WrittenAnswer {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  return { status, headers, pieces: [Buffer.from(`${text}\n`)] }
}

function requestHead({ method = '', url = '', headers }: IncomingMessage) {
  const named = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')] as const],
  )
  return { method, path: url, headers: Object.fromEntries(named) }
}

/**
 * A body that is too long is read to its end and discarded, because many clients read no response before they have sent
 * everything.
 */
async function bodyOf(
  incoming: IncomingMessage,
  longest: number,
): Promise<Buffer | undefined | 'gone'> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    const all: AsyncIterable<Buffer> = incoming
    for await (const piece of all) {
      length += piece.length
      if (length <= longest) pieces.push(piece)
      else pieces.length = 0
    }
  } catch {
    return 'gone'
  }
  return length > longest ? undefined : Buffer.concat(pieces)
}
