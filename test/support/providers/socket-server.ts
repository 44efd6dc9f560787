import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { WebSocketServer, type WebSocket } from 'ws'
import { eventsOf, sseOf, type VendorAnswer } from './vendor-answer.ts'
import { requestErrors } from './vendor-schemas.ts'

/** A request over a socket or over HTTP. */
export interface SocketRequest {
  readonly over: 'websocket' | 'http-sse'
  readonly bytes: number
  readonly text: string
  readonly previous: string | undefined
  /** The types of its input items. */
  readonly items: readonly string[]
}

export type SocketAnswer =
  | VendorAnswer
  /** The connection is cut after this many bytes of the messages. */
  | { readonly answer: VendorAnswer; readonly cutAfter: number }
  | { readonly error: Readonly<Record<string, unknown>> }
  /** These messages precede those of the answer. */
  | { readonly noise: readonly string[]; readonly answer: VendorAnswer }

export interface SocketServer {
  readonly baseUrl: string
  readonly requests: readonly SocketRequest[]
  readonly violations: readonly string[]
  /** The number of sockets opened so far. */
  opened(): number
  /** Closes all open sockets. */
  hangUp(): Promise<void>
  close(): Promise<void>
}

export interface SocketServerOptions {
  readonly answer: (request: SocketRequest, n: number) => SocketAnswer
  /** Refuses a socket with the returned status. */
  readonly refuse?: () => number | undefined
}

/** A Responses server on this machine that accepts sockets and HTTP, with a record of its requests. */
export async function socketServer({
  answer,
  refuse = () => undefined,
}: SocketServerOptions): Promise<SocketServer> {
  const requests: SocketRequest[] = []
  const violations: string[] = []
  const take = (over: SocketRequest['over'], text: string): SocketAnswer => {
    const { request, errors } = read(over, text)
    violations.push(...errors)
    requests.push(request)
    return answer(request, requests.length - 1)
  }
  const sockets = new WebSocketServer({ noServer: true })
  const open = new Set<WebSocket>()
  let opened = 0
  const server = createServer((incoming, response) => void byHttp(incoming, response, take))
  server.on('upgrade', (request, socket, head) => {
    const status = refuse()
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      open.add(accepted)
      opened += 1
      accepted.on('close', () => open.delete(accepted))
      accepted.on('message', (data) =>
        reply(
          accepted,
          take('websocket', Buffer.isBuffer(data) ? data.toString('utf8') : ''),
          requests.length,
        ),
      )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port to listen on')
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    requests,
    violations,
    opened: () => opened,
    hangUp: async () => {
      const gone = [...open].map((one) => once(one, 'close'))
      for (const one of open) one.terminate()
      await Promise.all(gone)
    },
    close: async () => {
      for (const one of open) one.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function read(over: SocketRequest['over'], text: string) {
  const { type, ...body } = JSON.parse(text) as {
    type?: string
    input?: { type?: string }[]
    previous_response_id?: string
  }
  const expectedType = over === 'websocket' ? 'response.create' : undefined
  const known = over === 'websocket' ? { ...body, stream: true } : body
  const errors = [
    ...(type === expectedType ? [] : [`type ${String(type)}`]),
    ...(over === 'websocket' && 'stream' in body ? ['stream over a socket'] : []),
    ...requestErrors('responses', known),
  ]
  const request: SocketRequest = {
    over,
    bytes: Buffer.byteLength(text),
    text,
    previous: body.previous_response_id,
    items: (body.input ?? []).map((item) => item.type ?? ''),
  }
  return { request, errors }
}

/** The id of the n-th response. */
function responseId(n: number): string {
  return `resp_${n}`
}

function eventsWithId(answer: VendorAnswer, n: number): string[] {
  const events = eventsOf('responses', answer)
  return events.map((event) => JSON.stringify(event).replaceAll('"resp_1"', `"${responseId(n)}"`))
}

function reply(socket: WebSocket, answer: SocketAnswer, n: number): void {
  if ('error' in answer) return socket.send(JSON.stringify({ type: 'error', ...answer.error }))
  if ('noise' in answer) {
    for (const one of [...answer.noise, ...eventsWithId(answer.answer, n)]) socket.send(one)
    return
  }
  if (!('cutAfter' in answer)) {
    for (const event of eventsWithId(answer, n)) socket.send(event)
    return
  }
  let left = answer.cutAfter
  const events = eventsWithId(answer.answer, n)
  const sent = events.findIndex((event) => (left -= event.length) < 0)
  const kept = sent === -1 ? events : events.slice(0, sent)
  const last = kept.at(-1)
  for (const event of kept.slice(0, -1)) socket.send(event)
  // Closes the connection after everything was sent.
  if (last === undefined) socket.terminate()
  else socket.send(last, () => socket.terminate())
}

async function byHttp(
  incoming: IncomingMessage,
  response: ServerResponse,
  take: (over: 'http-sse', text: string) => SocketAnswer,
): Promise<void> {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array)
  const answer = take('http-sse', Buffer.concat(chunks).toString('utf8'))
  if ('error' in answer || 'cutAfter' in answer || 'noise' in answer) return void response.destroy()
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sseOf('responses', answer))
}
