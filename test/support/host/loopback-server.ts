import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server on this machine that is closed with all its connections at the end of the test. */
export interface LoopbackServer {
  /** Ends with a slash. */
  readonly url: string
  /** All connections so far, open or closed. */
  readonly connections: ReadonlySet<Socket>
  /** Resolves to `'closed'` when the first connection is closed. */
  readonly firstClosed: Promise<'closed'>
  /** Stops accepting connections. */
  readonly stop: () => void
}

/** Serves HTTP and keeps each connection open until the client closes it. */
export function serveHttp(listener: RequestListener): Promise<LoopbackServer> {
  return listen(createHttpServer({ keepAliveTimeout: 0 }, listener))
}

/** Answers the first data on each connection with `bytes`, whatever it is, and then calls `then`. */
export function serveBytes(
  bytes: string,
  then: (socket: Socket) => void = () => {},
): Promise<LoopbackServer> {
  return listen(
    createTcpServer((socket) => {
      socket.once('data', () => socket.write(bytes, () => then(socket)))
    }),
  )
}

async function listen(server: Server): Promise<LoopbackServer> {
  const connections = new Set<Socket>()
  const firstClosed = new Promise<'closed'>((resolve) => {
    server.on('connection', (socket) => {
      connections.add(socket)
      // Only tests that break a connection cause errors here, and they expect them.
      socket.on('error', () => {})
      socket.once('close', () => resolve('closed'))
    })
  })
  onTestFinished(() => {
    server.close()
    for (const socket of connections) socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port to listen on')
  const url = `http://127.0.0.1:${address.port}/`
  return { url, connections, firstClosed, stop: () => void server.close() }
}
