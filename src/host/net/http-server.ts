import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { socketServer, type SocketServer, type TakeMessages } from './socket-server.ts'

/** A request as it came. */
export interface LocalRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** All of it; absent when it is longer than is taken. */
  readonly body: Buffer | undefined
  /** Aborted when the other side is gone before its answer was whole. */
  readonly signal: AbortSignal
}

/** `hang_up`: the connection ends without a word. */
export type LocalAnswer = WrittenAnswer | 'hang_up'

export interface WrittenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Each is sent at once. */
  readonly pieces: readonly Uint8Array[]
  /** The connection is destroyed behind the last piece, without the end of the answer. */
  readonly cut?: boolean
}

export interface LocalServerOptions {
  /** 0 for any that is free. */
  readonly port: number
  /** Bytes of a body, or of a message on a socket. */
  readonly longest: number
  readonly handle: (request: LocalRequest) => Promise<LocalAnswer>
  /** For whoever asks for a socket: what takes its messages, or why it gets none. */
  readonly upgrade?: (request: LocalRequest) => Promise<LocalAnswer | TakeMessages>
}

export interface LocalServer {
  readonly port: number
  /** Ends every connection. May be called twice. */
  close(): Promise<void>
}

const ADDRESS = '127.0.0.1'
const MOST_CONNECTIONS = 1_000

/**
 * Serves HTTP to this machine alone: nobody else reaches the address, and whoever was led here by the name of another site is
 * refused. A handler that throws is answered for with status 500 and ends nothing else. `invalid_args` when the port cannot
 * be had.
 */
export async function listenLocally(options: LocalServerOptions): Promise<Result<LocalServer>> {
  const { createServer } = await import('node:http')
  const server = createServer({ keepAliveTimeout: 0, maxHeaderSize: 16_384 })
  server.maxConnections = MOST_CONNECTIONS
  const sockets = options.upgrade && (await socketServer(options.longest))
  const port = await listening(server, options.port)
  if (!port.ok) return port
  server.on('request', (incoming, response) => {
    void serve(incoming, response, port.value, options)
  })
  if (sockets !== undefined) {
    server.on('upgrade', (incoming, connection, head) => {
      void upgrade({ incoming, connection, head }, port.value, options, sockets)
    })
  }
  const closed = new Promise<void>((resolve) => void server.once('close', resolve))
  return ok({
    port: port.value,
    close: async () => {
      sockets?.close()
      server.close()
      server.closeAllConnections()
      await closed
    },
  })
}

function listening(server: Server, port: number): Promise<Result<number>> {
  return new Promise((resolve) => {
    // Stays: what goes wrong later, as when there are no more files to open, passes.
    server.on('error', (error) => resolve(noPort(port, codeOf(error))))
    server.listen(port, ADDRESS, () => {
      const address = server.address()
      resolve(isPlace(address) ? ok(address.port) : noPort(port, 'EADDRNOTAVAIL'))
    })
  })
}

function isPlace(address: ReturnType<Server['address']>): address is AddressInfo {
  return address !== null && typeof address !== 'string'
}

function noPort(port: number, code: string): Failed {
  const why = code === 'EADDRINUSE' ? 'another program uses it' : `the system says ${code}`
  return failed('invalid_args', `Port ${port} cannot be listened on: ${why}.`, { port, code })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'an unknown error'
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
  const request = { ...headOf(incoming), body, signal: gone.signal }
  const answer = await answerTo(request, port, handle)
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
  // Whoever breaks a connection has gone, which is their right.
  connection.on('error', () => connection.destroy())
  const request = { ...headOf(incoming), body: undefined, signal: gone.signal }
  const answer = await answerTo(request, port, decide)
  if (typeof answer === 'function') return sockets.open(incoming, connection, head, answer)
  if (answer === 'hang_up') return void connection.destroy()
  const headers = Object.entries({ ...answer.headers, connection: 'close' })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const opening = Buffer.from(`HTTP/1.1 ${answer.status} Refused\r\n${lines}\r\n`)
  connection.end(Buffer.concat([opening, ...answer.pieces]))
}

/** Whatever happens, there is an answer. */
async function answerTo<Answer>(
  request: LocalRequest,
  port: number,
  handle: (request: LocalRequest) => Promise<Answer>,
): Promise<Answer | WrittenAnswer> {
  if (!isHere(request.headers['host'], port)) {
    return plain(403, 'This server answers to the names 127.0.0.1 and localhost only.')
  }
  try {
    return await handle(request)
  } catch (error) {
    return plain(500, `The server has a defect: ${String(error)}`)
  }
}

/** A page of another site may lead a browser here, but under the name of that site. */
function isHere(host: string | undefined, port: number): boolean {
  const names = [ADDRESS, 'localhost']
  const allowed = [...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])]
  return host !== undefined && allowed.includes(host.toLowerCase())
}

function plain(status: number, text: string): WrittenAnswer {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  return { status, headers, pieces: [Buffer.from(`${text}\n`)] }
}

function headOf({ method = '', url = '', headers }: IncomingMessage) {
  const named = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')] as const],
  )
  return { method, path: url, headers: Object.fromEntries(named) }
}

/** What is too long is read to its end and not kept, because many a client hears nothing before it has said all. */
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
