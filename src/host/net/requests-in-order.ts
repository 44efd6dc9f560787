import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** They cost a few KB each. A read of 64 KB can contain 2,000. */
export const MOST_WAITING = 10_000

export type TakeRequest = (incoming: IncomingMessage, response: ServerResponse) => void

interface Exchange {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Hands over the requests of each connection one after another: the next one when the response to the one before has been
 * sent. Node itself would begin as many as a client can send. While requests wait, their connection is not read, so at most
 * those of one read wait for it. A connection that would make more than `mostWaiting` wait on all connections is closed.
 */
export function requestsInOrder(server: Server, mostWaiting: number, take: TakeRequest): void {
  const lines = new WeakMap<Socket, Exchange[]>()
  let waiting = 0
  const begin = (socket: Socket, line: Exchange[], { incoming, response }: Exchange) => {
    // One request of each connection in a turn of the event loop: a flood on one does not hold up the others.
    response.once('close', () => void setImmediate(beginNext, socket, line))
    take(incoming, response)
  }
  const beginNext = (socket: Socket, line: Exchange[]) => {
    const next = line.shift()
    if (next === undefined) lines.delete(socket)
    else waiting -= 1
    if (line.length === 0) socket.resume()
    if (next !== undefined) begin(socket, line, next)
  }
  server.on('connection', (socket) => {
    // Node resumes a connection at the end of each response.
    socket.on('resume', () => {
      if ((lines.get(socket)?.length ?? 0) > 0) socket.pause()
    })
    socket.once('close', () => {
      waiting -= lines.get(socket)?.splice(0).length ?? 0
    })
  })
  server.on('request', (incoming, response) => {
    const { socket } = incoming
    const line = lines.get(socket)
    if (socket.destroyed) return
    if (line === undefined) {
      const begun: Exchange[] = []
      lines.set(socket, begun)
      return begin(socket, begun, { incoming, response })
    }
    if (waiting >= mostWaiting) return void socket.destroy()
    line.push({ incoming, response })
    waiting += 1
    socket.pause()
  })
}
