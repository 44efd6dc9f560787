import { Agent, request } from 'node:http'
import { performServerHandshake } from 'node:http2'
import type { Duplex } from 'node:stream'

/** As much as the relay allows, so that no body waits for a window. */
const WINDOW = 8 * 1024 * 1024

/**
 * A relay that only copies: HTTP/2 in, HTTP/1.1 out over a kept connection, both bodies piped. It judges, counts and removes
 * nothing, so it is the least that a relay in another process can cost.
 */
export function openBareRelay(socket: Duplex, baseUrl: string): void {
  const agent = new Agent({ keepAlive: true })
  const session = performServerHandshake(socket, { settings: { initialWindowSize: WINDOW } })
  session.setLocalWindowSize(WINDOW)
  session.on('stream', (stream, head) => {
    const headers = { 'content-type': 'application/json', 'content-length': head['content-length'] }
    const sent = request(`${baseUrl}${head[':path'] ?? ''}`, { method: 'POST', headers, agent })
    sent.once('response', (answer) => {
      const type = answer.headers['content-type'] ?? ''
      stream.respond({ ':status': answer.statusCode ?? 0, 'content-type': type })
      answer.pipe(stream)
    })
    stream.pipe(sent)
  })
}
