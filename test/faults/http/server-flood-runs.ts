import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Figure } from '../support/figure.ts'
import { floodedServer, type FloodedServer, type Via } from './server-flood-server.ts'

export interface FloodSizes {
  /** Connections with slow headers, and as many with slow bodies. */
  readonly slow: number
  /** Streams that are opened and dropped, so many at once. */
  readonly streams: number
  readonly atOnce: number
  readonly pipelinedBytes: number
}

/** The most that the resident memory may grow in a flood, garbage included. */
export const MOST_GROWTH_MB = 200
const VIAS: readonly Via[] = ['port', 'socket']

/**
 * Floods a server in every way, one after another, on its port and its socket. During each flood a polite client runs Turns
 * and another one watches them; after it the server has the descriptors of before and has complained about nothing.
 */
export async function runServerFloods(base: string, sizes: FloodSizes): Promise<Figure[]> {
  const root = await mkdtemp(join(base, 'hawser-flood-'))
  const server = await floodedServer(root)
  try {
    const figures: Figure[] = []
    for (const flood of floodsOf(sizes)) figures.push(await judged(server, flood))
    return figures
  } finally {
    await server.stop()
    await rm(root, { recursive: true, force: true })
  }
}

interface Flood {
  readonly test: string
  readonly n: number
  /** Resolves to what held against expectation when the flood is over and all its connections are closed. */
  readonly run: (server: FloodedServer, session: string) => Promise<readonly string[]>
}

function floodsOf({ slow, streams, atOnce, pipelinedBytes }: FloodSizes): readonly Flood[] {
  return [
    { test: 'slow headers', n: slow, run: (server) => slowHeaders(server, slow) },
    { test: 'slow bodies', n: slow, run: (server) => slowBodies(server, slow) },
    {
      test: 'opened and dropped streams',
      n: streams,
      run: (server, session) => droppedStreams(server, session, { streams, atOnce }),
    },
    ...Object.entries(PIPELINED).map(([name, requestOf]) => ({
      test: `pipelined bytes: ${name}`,
      n: pipelinedBytes,
      run: (server: FloodedServer) => pipelined(server, requestOf(server), pipelinedBytes),
    })),
  ]
}

/** Whether a server stays polite to others during a flood, and is as before after it. */
async function judged(server: FloodedServer, flood: Flood): Promise<Figure> {
  // What is loaded once, such as the code of Turns, is not of the flood.
  for (const via of [...VIAS, ...VIAS]) await politely(server, via)
  const session = await newSession(server)
  const descriptors = server.descriptors()
  const memory = server.memory()
  server.forgetPeak()
  const over = new AbortController()
  const flooding = flood.run(server, session).finally(() => over.abort())
  const violations: string[] = []
  let served = 0
  do {
    for (const via of VIAS) violations.push(...(await politely(server, via)))
    served += VIAS.length
  } while (!over.signal.aborted && violations.length === 0)
  violations.push(...(await flooding))
  const growth = Math.round(server.peak() - memory)
  if (growth > MOST_GROWTH_MB) violations.push(`the memory grew by ${growth} MB`)
  violations.push(...(await returned(server, descriptors)))
  const complaints = await server.complaints()
  if (complaints !== '') violations.push(`it complained: ${complaints.slice(0, 500)}`)
  if (!server.isAlive()) violations.push('it ended')
  return { test: flood.test, n: flood.n, violations, more: { growth_mb: growth, served } }
}

/** A Turn by one client, watched by another. */
async function politely(server: FloodedServer, via: Via): Promise<string[]> {
  const session = await newSession(server)
  const watching = server.connected(via)
  let seen = ''
  const ended = new Promise<void>((resolve) => {
    watching.setEncoding('latin1').on('data', (piece: string) => {
      seen += piece
      if (seen.includes('process:exit')) resolve()
    })
    watching.once('close', resolve)
  })
  watching.write(head(server, 'GET', `/api/harness/session/${session}/events`))
  const turn = { sessionId: session, message: 'Hello' }
  const { status, body } = await server.ask(via, 'POST', '/api/harness/turn', turn)
  await ended
  watching.destroy()
  if (status !== 200) return [`a Turn by the ${via} got ${status}`]
  if (!body.includes('process:exit')) return [`a Turn by the ${via} did not end`]
  return seen.includes('process:exit') ? [] : [`a watcher by the ${via} was cut off`]
}

async function newSession({ ask, workspace }: FloodedServer): Promise<string> {
  const body = { projectRoot: workspace }
  const made = await ask('socket', 'POST', '/api/harness/session/create', body)
  return /ses_[0-9a-z]{26}/.exec(made.body)?.[0] ?? ''
}

function head({ token, port }: FloodedServer, method: string, path: string, more = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`
}

/** A request without the token. */
function stranger(server: FloodedServer, method: string, path: string, more = ''): string {
  return head(server, method, path, more).replace(/^Authorization.*\r\n/m, '')
}

const RETURN_MS = 60_000

/** The descriptors of a server return to what they were, unless something is left. */
export async function returned(
  { descriptors, isAlive }: Pick<FloodedServer, 'descriptors' | 'isAlive'>,
  before: number,
  mostMs = RETURN_MS,
): Promise<string[]> {
  for (let waited = 0; isAlive() && descriptors() > before && waited < mostMs; waited += 50)
    await sleep(50)
  const left = isAlive() ? descriptors() - before : 0
  return left > 0 ? [`${left} descriptors are left`] : []
}

/** One byte now and then, until the server closes the connection. */
async function slowHeaders(server: FloodedServer, count: number): Promise<string[]> {
  await Promise.all(
    Array.from({ length: count }, (_, at) => {
      const connection = server.connected(VIAS[at % 2] ?? 'port').resume()
      connection.write(
        at % 4 < 2 ? 'GET / HT' : `GET / HTTP/1.1\r\nHost: localhost:${server.port}\r\nX-Slow: `,
      )
      return drip(connection)
    }),
  )
  return []
}

/** Half of them without the token, which the server closes; the others are closed here. */
async function slowBodies(server: FloodedServer, count: number): Promise<string[]> {
  const refused: Promise<void>[] = []
  const held: Socket[] = []
  for (let at = 0; at < count; at += 1) {
    const connection = server.connected(VIAS[at % 2] ?? 'port').resume()
    const isRefused = at % 4 < 2
    const path = isRefused ? '/nowhere' : '/api/harness/turn'
    const length = 'Content-Type: application/json\r\nContent-Length: 100000\r\n'
    const method = at % 3 === 0 && isRefused ? 'GET' : 'POST'
    const opening = isRefused ? stranger : head
    connection.write(opening(server, method, path, length))
    const dripped = drip(connection)
    if (isRefused) refused.push(dripped)
    else held.push(connection)
  }
  await Promise.all(refused)
  const closedEarly = held.filter(({ destroyed }) => destroyed).length
  for (const one of held) one.destroy()
  return closedEarly > 0 ? [`${closedEarly} bodies with progress were cut off`] : []
}

async function drip(connection: Socket): Promise<void> {
  const dripping = setInterval(() => connection.write('a'), 100)
  await gone(connection)
  clearInterval(dripping)
}

function gone(connection: Socket): Promise<void> {
  return new Promise((resolve) => void connection.once('close', () => resolve()))
}

/** Dropped before the response, after its first bytes, or by half. */
async function droppedStreams(
  server: FloodedServer,
  session: string,
  { streams, atOnce }: Pick<FloodSizes, 'streams' | 'atOnce'>,
): Promise<string[]> {
  for (let opened = 0; opened < streams; opened += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, streams - opened) }, (_, at) => {
      const connection = server.connected(VIAS[at % 2] ?? 'port')
      const closed = gone(connection)
      connection.write(head(server, 'GET', `/api/harness/session/${session}/events`), () => {
        if (at % 3 === 0) connection.destroy()
        else if (at % 3 === 1) connection.once('data', () => connection.destroy())
        else connection.once('data', () => connection.end(() => connection.destroy()))
      })
      return closed
    })
    await Promise.all(batch)
  }
  return []
}

type RequestOf = (server: FloodedServer) => string

const PIPELINED: Readonly<Record<string, RequestOf>> = {
  'small requests': (server) => head(server, 'GET', '/healthz', `X-A: ${'a'.repeat(800)}\r\n`),
  'requests that read files': (server) =>
    head(server, 'GET', '/api/harness/models', `X-A: ${'a'.repeat(3_000)}\r\n`),
  'requests without the token': (server) =>
    stranger(server, 'GET', '/api/harness/models', `X-A: ${'a'.repeat(900)}\r\n`),
  'garbage after a request': (server) => `${head(server, 'GET', '/healthz')}\0\xFF{}\r\n`.repeat(9),
}
const CONNECTIONS = 4

/** A server that closes the connection has had enough of it, which is fine. Every second one does not read its responses. */
async function pipelined(server: FloodedServer, request: string, bytes: number): Promise<string[]> {
  const piece = Buffer.from(request.repeat(Math.ceil(100_000 / request.length)), 'latin1')
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, at) => {
      const connection = server.connected(VIAS[at % 2] ?? 'port')
      const closed = gone(connection)
      const reads = at < CONNECTIONS / 2
      if (reads) connection.resume()
      for (let sent = 0; sent < bytes / CONNECTIONS; sent += piece.length) {
        if (connection.destroyed) break
        if (connection.write(piece)) continue
        // What does not read is not read from for long.
        const stuck = reads ? [] : [sleep(1_000, 'stuck' as const)]
        const next = await Promise.race([drained(connection), closed, ...stuck])
        if (next === 'stuck') break
      }
      if (reads && !connection.destroyed) connection.end()
      else connection.destroy()
      await closed
    }),
  )
  return []
}

function drained(connection: Socket): Promise<void> {
  return new Promise((resolve) => void connection.once('drain', () => resolve()))
}
