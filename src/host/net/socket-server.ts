import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** The other end of a WebSocket. */
export interface LocalSocket {
  /** Sends a message of text. Resolves when it is on its way or will never be. */
  send(message: Uint8Array): Promise<void>
  /** Ends the connection without a word. */
  end(): void
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal
}

/** Takes one message after the other: the next one comes when the one before was dealt with. */
export type TakeMessages = (message: string, socket: LocalSocket) => Promise<void>

export interface SocketServer {
  /** Agrees to a socket, and hands its messages over for as long as it is open. */
  open(request: IncomingMessage, connection: Duplex, head: Buffer, take: TakeMessages): void
  /** Ends all of them. */
  close(): void
}

/** The servers' side of WebSockets, loaded when somebody may ask for one. `longest`: bytes of a message. */
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
  // Broken frames and broken connections: both end the socket by themselves.
  opened.on('error', () => {})
  let before = Promise.resolve()
  opened.on('message', (data) => {
    const message = Buffer.isBuffer(data) ? data.toString('utf8') : ''
    opened.pause()
    before = before
      .then(() => (over.signal.aborted ? undefined : take(message, socket)))
      .then(
        () => opened.resume(),
        // A defect ends this socket and nothing else.
        () => opened.terminate(),
      )
  })
}
