import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { ADDRESS } from './request-guard.ts'

/** What one listener grants to all of its clients together. */
export interface ListenerBounds {
  readonly connections: number
  /** For the headers of a request, from the start of its connection. */
  readonly headersMs: number
  /**
   * Without progress, while a body is incomplete or bytes of a response are not accepted. Single bytes do not count as
   * progress.
   */
  readonly stalledMs: number
  /** Between two requests. 0: no limit. Long enough for clients that ask every few seconds. */
  readonly idleMs: number
}

const USUAL: ListenerBounds = {
  // A thousand long polls may wait, and others still get an answer.
  connections: 1_200,
  headersMs: 10_000,
  stalledMs: 30_000,
  idleMs: 30_000,
}

const HEADER_BYTES = 16 * 1024
const CHECKS_PER_LIMIT = 4

/** An HTTP server that does not listen yet, with limits for everything a client can hold. */
export async function boundedServer(chosen: Partial<ListenerBounds> = {}): Promise<Server> {
  const { createServer } = await import('node:http')
  const bounds = { ...USUAL, ...chosen }
  const { connections, headersMs, idleMs } = bounds
  const options: ServerOptions = {
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: headersMs,
    // A body may take any time, as long as it makes progress.
    requestTimeout: 0,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.ceil(headersMs / CHECKS_PER_LIMIT),
  }
  const server = createServer(options)
  server.maxConnections = connections
  // The size is the limit: above a number, Node would leave out headers that the guard has to see.
  server.maxHeadersCount = 0
  dropStalled(server, bounds)
  dropSlowBodies(server, bounds)
  return server
}

/**
 * Closes a connection that owes or is owed bytes and does not move, or that waits for the next request. One on which nothing
 * is due may be quiet. Node closes none of them, because there is a listener.
 */
function dropStalled(server: Server, { stalledMs, idleMs }: ListenerBounds): void {
  const latest = new WeakMap<Socket, { incoming: IncomingMessage; response: ServerResponse }>()
  server.on('request', (incoming, response) => {
    latest.set(incoming.socket, { incoming, response })
  })
  server.setTimeout(stalledMs, (socket) => {
    const exchange = latest.get(socket)
    const isSending = socket.writableLength > 0
    const isReceiving = exchange?.incoming.complete === false
    const isIdle = exchange?.response.writableFinished === true && idleMs > 0
    if (isSending || isReceiving || isIdle) socket.destroy()
  })
}

/** Less than this within `stalledMs` is as good as nothing: a byte now and then would hold a connection as long as it likes. */
const LEAST_BYTES = 1024
/** For a client that reads its response only when it has sent its body. */
const LINGER_MS = 500

/** Closes a connection whose body comes too slowly, or is still coming when its response was sent. */
function dropSlowBodies(server: Server, { stalledMs }: ListenerBounds): void {
  server.on('request', (incoming, response) => {
    if (incoming.complete) return
    const { socket } = incoming
    let before = socket.bytesRead
    const pace = setInterval(() => {
      const isSlow = socket.bytesRead - before < LEAST_BYTES
      // A body that its handler does not take yet is not late.
      if (isSlow && incoming.readableLength === 0 && !incoming.complete) socket.destroy()
      before = socket.bytesRead
    }, stalledMs)
    pace.unref()
    let linger: NodeJS.Timeout | undefined
    response.once('finish', () => {
      linger = setTimeout(() => incoming.complete || socket.destroySoon(), LINGER_MS)
      linger.unref()
    })
    incoming.once('close', () => {
      clearInterval(pace)
      clearTimeout(linger)
    })
  })
}

/** Starts to listen on the loopback address; 0 selects a free port. Returns the port. */
export function listenOnPort(server: Server, port: number): Promise<Result<number>> {
  return new Promise((resolve) => {
    const refused = (error: unknown) => {
      server.off('listening', listening)
      resolve(noPort(port, codeOf(error)))
    }
    const listening = () => {
      server.off('error', refused)
      // Later errors, such as running out of descriptors, are temporary.
      server.on('error', () => {})
      const address = server.address()
      const isPlace = address !== null && typeof address !== 'string'
      resolve(isPlace ? ok(address.port) : noPort(port, 'EADDRNOTAVAIL'))
    }
    server.once('error', refused).once('listening', listening).listen(port, ADDRESS)
  })
}

/** Ends every connection, also those in use. May be called twice. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}

function noPort(port: number, code: string): Failed {
  const why = code === 'EADDRINUSE' ? 'another program is using it' : `system error ${code}`
  return failed('invalid_args', `Cannot listen on port ${port}: ${why}.`, { port, code })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'an unknown error'
}
