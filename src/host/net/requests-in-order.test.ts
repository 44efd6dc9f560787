import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/support/host/virtual-clock.ts'
import { requestsInOrder } from './requests-in-order.ts'

type Take = (incoming: IncomingMessage, response: ServerResponse) => void

async function opened(mostWaiting: number, take: Take): Promise<() => Socket> {
  const server = createServer()
  requestsInOrder(server, mostWaiting, take)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    return socket
  }
}

function requests(count: number, path = ''): string {
  return Array.from({ length: count }, (_, at) => get(`/${path}${at}`)).join('')
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
}

/** Resolves to the bodies, one line each, when there are `count`. */
async function bodies(socket: Socket, count: number): Promise<string[]> {
  const pieces: string[] = []
  let found = 0
  // A piece may end within a line: what counts is the end of each.
  for await (const piece of socket.iterator({ destroyOnReturn: false })) {
    pieces.push(String(piece))
    found += pieces.at(-1)?.match(/[^\r]\n/g)?.length ?? 0
    if (found >= count) return [...pieces.join('').matchAll(/^of .*$/gm)].map(([line]) => line)
  }
  return ['closed']
}

test('pipelined requests are handled one at a time and in order, with their bodies', async () => {
  let running = 0
  let most = 0
  const connected = await opened(10_000, (incoming, response) => {
    most = Math.max(most, ++running)
    let length = 0
    incoming
      .on('data', (piece: Buffer) => (length += piece.length))
      .once('end', () => {
        setImmediate(() => {
          running -= 1
          response.end(`of ${incoming.url} ${length}\n`)
        })
      })
  })
  const socket = connected()
  const large = 'x'.repeat(300_000)
  const post = `POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: ${large.length}\r\n\r\n${large}`
  socket.write(requests(2_500, 'first') + post + requests(2_500, 'then') + post)
  const expected = [
    ...Array.from({ length: 2_500 }, (_, at) => `of /first${at} 0`),
    'of /post 300000',
    ...Array.from({ length: 2_500 }, (_, at) => `of /then${at} 0`),
    'of /post 300000',
  ]
  expect(await bodies(socket, expected.length)).toEqual(expected)
  expect(most).toBe(1)
})

test('a connection whose requests wait is not read, and others are served meanwhile', async () => {
  const held: ServerResponse[] = []
  const connected = await opened(1_000_000, (incoming, response) => {
    if (incoming.url === '/other') response.end('of /other\n')
    else held.push(response)
  })
  const flooding = connected()
  flooding.write(requests(500_000))
  const sent = flooding.writableLength
  const other = connected()
  let left = sent
  for (let same = 0; same < 50 && left > 0; same += 1) {
    other.write(get('/other'))
    expect(await bodies(other, 1)).toEqual(['of /other'])
    if (flooding.writableLength < left) same = 0
    left = flooding.writableLength
  }
  // The rest is in the buffers of the system.
  expect(left).toBeGreaterThan(sent / 2)
  expect(held).toHaveLength(1)
})

test('more waiting requests than the limit cost the connection that adds one, and only that', async () => {
  const held: ServerResponse[] = []
  const connected = await opened(100, (incoming, response) => {
    if (incoming.url === '/held') held.push(response)
    else response.end(`of ${incoming.url}\n`)
  })
  const patient = connected()
  patient.write(get('/held') + requests(60))
  await until(() => held.length === 1)
  const flooding = connected()
  flooding.resume()
  flooding.write(get('/held') + requests(60))
  await new Promise((resolve) => void flooding.once('close', resolve))
  for (const response of held) response.end('of /held\n')
  expect((await bodies(patient, 61)).slice(0, 2)).toEqual(['of /held', 'of /0'])
  // What the closed connection held is free again.
  const next = connected()
  next.write(requests(90))
  expect(await bodies(next, 90)).toHaveLength(90)
})
