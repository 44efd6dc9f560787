import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import * as z from 'zod'

/** A client of the local server that does as little as possible, so that what is measured is the server. */
export interface HttpClient {
  /** Sends a request, and resolves with its response when the headers are there. Fails unless the status is 2xx. */
  readonly ask: (method: string, path: string, body?: object) => Promise<IncomingMessage>
  readonly newSession: (workspace: string) => Promise<string>
  /** Starts a Turn, and resolves at its first delta; `ended` resolves when its stream has ended. */
  readonly firstDelta: (session: string, message: string) => Promise<{ ended: Promise<unknown> }>
  /** Runs a whole Turn. */
  readonly turn: (session: string, message: string, whenBusy?: 'queue') => Promise<void>
  /** Watches a Session from its first Event on. Nothing is read before the response is. */
  readonly watch: (session: string) => Promise<IncomingMessage>
  readonly close: () => void
}

export function httpClient(origin: string, token: string): HttpClient {
  // Connections are kept, as clients do.
  const agent = new Agent({ keepAlive: true })
  const ask: HttpClient['ask'] = async (method, path, body) => {
    const asked = request(`${origin}/api/harness${path}`, {
      agent,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve)
      asked.on('error', reject)
    })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    const response = await answered
    if (Math.floor((response.statusCode ?? 0) / 100) === 2) return response
    throw new Error(`${path}: ${response.statusCode} ${await textOf(response)}`)
  }
  const startTurn = (sessionId: string, message: string, whenBusy = 'refuse') =>
    ask('POST', '/turn', { sessionId, message, opts: { whenBusy } })
  return {
    ask,
    newSession: async (projectRoot) => {
      const body = await textOf(await ask('POST', '/session/create', { projectRoot }))
      return Created.parse(JSON.parse(body)).session.sessionId
    },
    firstDelta: async (session, message) => {
      const response = await startTurn(session, message)
      const ended = once(response, 'end')
      let text = ''
      await new Promise<void>((resolve, reject) => {
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
          if (text.includes('event: chat:delta')) resolve()
        })
        response.once('close', () => reject(new Error(`no delta: ${text}`)))
      })
      return { ended }
    },
    turn: async (session, message, whenBusy) => {
      const text = await textOf(await startTurn(session, message, whenBusy))
      if (!text.includes('"exitCode":0')) throw new Error(`the Turn failed: ${text.slice(-500)}`)
    },
    watch: (session) => ask('GET', `/session/${session}/events`),
    close: () => agent.destroy(),
  }
}

const Created = z.object({ session: z.object({ sessionId: z.string() }) })

/** All that follows in a response. */
export async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += String(piece)
  return text
}
