import type { Server } from 'node:http'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import {
  boundedServer,
  closeServer,
  listenOnPort,
  type ListenerBounds,
} from './bounded-listener.ts'
import { listenOnSocket } from './listen-on-socket.ts'
import { guardRefusal, type Arrival, type GuardRefusal } from './request-guard.ts'
import { MOST_WAITING, requestsInOrder, type TakeRequest } from './requests-in-order.ts'

export interface FetchServerOptions {
  /** Tried in this order until one is free. 0 selects any free port. */
  readonly ports: readonly number[]
  /** The path of a socket that serves the same. A socket that is already there is replaced: see `listenOnSocket`. */
  readonly socket?: string
  /** Handles a request whose `Host` and `Origin` are allowed. Its `signal` aborts when the client disconnects. */
  readonly fetch: (request: Request, arrival: Arrival) => Promise<Response>
  /** The response to a request that is refused before `fetch`. */
  readonly refusalResponse: (why: GuardRefusal) => Response
  readonly bounds?: Partial<ListenerBounds>
}

export interface FetchServer {
  readonly port: number
  /** Absent if none was requested. A failure here does not stop the server: it listens on the port only. */
  readonly socket: Result<string> | undefined
  /** Ends every connection and removes the socket. May be called twice. */
  close(): Promise<void>
}

/**
 * Serves standard requests on the loopback address and on a socket. Bodies are streams in both directions: neither side is
 * read faster than the other accepts it. A handler that throws is answered with status 500 and stops nothing else.
 * `invalid_args` if no port is available.
 */
export async function serveFetch(options: FetchServerOptions): Promise<Result<FetchServer>> {
  const { bounds, socket: path } = options
  const listener = await listenerOf(options)
  const onPort = await boundedServer(bounds)
  const port = await firstFree(onPort, options.ports)
  if (!port.ok) return port
  requestsInOrder(onPort, MOST_WAITING, listener({ port: port.value }))
  if (path === undefined) {
    return ok({ port: port.value, socket: undefined, close: () => closeServer(onPort) })
  }
  const onSocket = await boundedServer(bounds)
  requestsInOrder(onSocket, MOST_WAITING, listener('socket'))
  const bound = await listenOnSocket(onSocket, path)
  const close = async () => {
    await Promise.all([closeServer(onPort), ...(bound.ok ? [closeServer(onSocket)] : [])])
  }
  return ok({ port: port.value, socket: bound.ok ? ok(path) : bound, close })
}

async function firstFree(server: Server, ports: readonly number[]): Promise<Result<number>> {
  let refused: Failed = failed('invalid_args', 'No port to listen on.')
  for (const port of ports) {
    const listening = await listenOnPort(server, port)
    if (listening.ok) return listening
    refused = listening
  }
  const [first, ...more] = ports
  if (more.length === 0) return refused
  return failed('invalid_args', `No port from ${first} to ${more.at(-1)} is free.`, {}, [
    { action: 'Choose another port with --port.' },
  ])
}

async function listenerOf({
  fetch,
  refusalResponse,
}: FetchServerOptions): Promise<(arrival: Arrival) => TakeRequest> {
  const { getRequestListener } = await import('@hono/node-server')
  const invalid = () => refusalResponse('target')
  // The globals stay as they are: this process also sends requests.
  const options = { overrideGlobalObjects: false, errorHandler: invalid }
  return (arrival) => {
    const handle = getRequestListener(async (request, { incoming }) => {
      // Only HTTP/1 is served.
      const why = 'headersDistinct' in incoming ? guardRefusal(incoming, arrival) : 'target'
      if (why !== undefined) return refusalResponse(why)
      return fetch(request, arrival).catch(() => new Response(null, { status: 500 }))
    }, options)
    return (incoming, response) => void handle(incoming, response)
  }
}
