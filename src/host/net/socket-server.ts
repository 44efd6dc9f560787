import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** The other end of a WebSocket. */
export interface LocalSocket {
  /** Sends a text message. Resolves when it was sent or the connection is gone. */
  send(message: Uint8Array): Promise<void>
  /** Closes the connection without a closing handshake. */
  end(): void
  /** Aborted when the connection has ended. */
  readonly signal: AbortSignal
}

/** Handles one message at a time: the next one is delivered when the returned promise settles. */
export type TakeMessages = (message: string, socket: LocalSocket) => Promise<void>

export interface SocketServer {
  /** Accepts a socket and delivers its messages while it is open. */
  open(request: IncomingMessage, connection: Duplex, head: Buffer, take: TakeMessages): void
  /** Closes all sockets. */
  close(): void
}

/** The server side of WebSockets, loaded on demand. `longest` is the maximum message size in bytes. */
export async function socketServer(longest: number): Promise<SocketServer> {
  const { WebSocketServer } = await import('ws')
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: longest,
    perMessageDeflate: false,
  })
  return {
    open: (request, connection, head, take) => {
      server.handleUpgrade(request, connection, head, (opened) => listen(opened, take))
    },
    close: () => {
      for (const opened of server.clients) opened.terminate()
      server.close()
    },
  }
}

function listen(opened: WebSocket, take: TakeMessages): void {
  const over = new AbortController()
  const socket: LocalSocket = {
    send: (message) =>
      new Promise((resolve) => {
        opened.send(message, { binary: false }, () => resolve())
      }),
    end: () => opened.terminate(),
    signal: over.signal,
  }
  opened.on('close', () => over.abort())
  // Invalid frames and broken connections close the socket anyway.
  opened.on('error', () => {})
  let before = Promise.resolve()
  opened.on('message', (data) => {
    const message = Buffer.isBuffer(data) ? data.toString('utf8') : ''
    opened.pause()
    before = before
      .then(() => (over.signal.aborted ? undefined : take(message, socket)))
      .then(
        () => opened.resume(),
        // A defect closes this socket only.
        () => opened.terminate(),
      )
  })
}
