import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server on this machine that ends, connections and all, with the test that made it. */
export interface LoopbackServer {
  /** With a slash at its end. */
  readonly url: string
  /** All that were ever made. */
  readonly connections: ReadonlySet<Socket>
  /** Resolves when the first connection is gone, with the word that says so. */
  readonly firstClosed: Promise<'closed'>
  /** Takes no more connections. */
  readonly stop: () => void
}

/** Answers requests, and keeps connections for as long as the other side does. */
export function serveHttp(listener: RequestListener): Promise<LoopbackServer> {
  return listen(createHttpServer({ keepAliveTimeout: 0 }, listener))
}

/** Says `bytes` to whoever has asked for something, whatever that was, and then does as told. */
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
      // A test that breaks a connection knows; nobody else has one broken.
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
