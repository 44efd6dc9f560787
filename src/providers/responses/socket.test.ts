import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'
import { CANARY_KEY } from '../../../test/support/host/canary.ts'
import { systemClock } from '../../host/clock.ts'
import { CAUSE } from '../../model/error-cause.ts'
import { CallConnection } from '../call-connection.ts'
import { onceLoaded } from '../openai-client.ts'
import { ResponsesSocket } from './socket.ts'

/** Timers that only the test fires. */
function timersByHand() {
  const waiting: { ms: number; ring: () => void; stopped: boolean }[] = []
  const wait = (ms: number, ring: () => void) => {
    const one = { ms, ring, stopped: false }
    waiting.push(one)
    return () => {
      one.stopped = true
    }
  }
  const pass = (most: number) => {
    for (const one of waiting.filter(({ ms, stopped }) => ms <= most && !stopped)) one.ring()
  }
  return { timers: { after: wait, every: wait }, pass }
}

async function place() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const address = server.address()
  if (typeof address === 'string' || address === null) throw new Error('no port')
  const baseUrl = `http://127.0.0.1:${address.port}/v1`
  const options = { key: CANARY_KEY, baseUrl, idleMs: 60_000, clock: systemClock }
  const { timers, pass } = timersByHand()
  const socket = new ResponsesSocket(onceLoaded(options), options, timers)
  const accepted = new Promise<WebSocket>((resolve) => {
    server.on('connection', (one) => {
      one.on('message', (data) =>
        one.send(`received ${Buffer.isBuffer(data) ? data.toString('utf8') : ''}`),
      )
      resolve(one)
    })
  })
  onTestFinished(() => {
    socket.close()
    server.close()
  })
  const ask = async (text: string) => {
    const connection = new CallConnection(new AbortController().signal, options)
    for await (const { data } of socket.call([Buffer.from(text)], connection)) return data
    return undefined
  }
  return { socket, ask, accepted, pass, options, server }
}

/** Far more than the buffers between two ends that do not read. */
const LONG = Buffer.from('The tide turns at six. é€😀 '.repeat(1_000_000))

/** A call with a message of which the server reads only the beginning. */
async function blockedCall() {
  const { server, socket, options, ask } = await place()
  const begun = new Promise<{ end: () => void; say: (text: string) => void }>((resolve) => {
    server.once('connection', (one, request) => {
      request.socket.once('data', () => {
        one.pause()
        resolve({ end: () => request.socket.destroy(), say: (text) => one.send(text) })
      })
    })
  })
  const caller = new AbortController()
  const connection = new CallConnection(caller.signal, options)
  const call = socket.call([LONG], connection)
  const next = call.next()
  // It may fail before it is awaited.
  next.catch(() => {})
  return { call, next, caller, socket, ask, ...(await begun) }
}

test('one socket carries one call after another', async () => {
  const { ask, socket } = await place()
  expect(socket.isOpen).toBe(false)
  expect([await ask('one'), socket.isOpen, await ask('two')]).toEqual([
    'received one',
    true,
    'received two',
  ])
})

test('an idle socket is kept alive, and is closed after a long time', async () => {
  const { ask, socket, accepted, pass } = await place()
  await ask('one')
  const other = await accepted
  const pinged = once(other, 'ping')
  pass(25_000)
  await pinged
  const closed = once(other, 'close')
  pass(300_000)
  await closed
  expect(socket.isOpen).toBe(false)
})

test('closing the connection of a call ends the socket', async () => {
  const { socket, accepted, options } = await place()
  const connection = new CallConnection(new AbortController().signal, options)
  const call = socket.call([Buffer.from('one')], connection)
  await call.next()
  const closed = once(await accepted, 'close')
  connection.close()
  await closed
  expect(socket.isOpen).toBe(false)
})

test('a key is never sent unencrypted to another machine', async () => {
  const options = { key: CANARY_KEY, baseUrl: 'http://192.0.2.1/v1', idleMs: 1, clock: systemClock }
  const socket = new ResponsesSocket(onceLoaded(options), options)
  const connection = new CallConnection(new AbortController().signal, {
    ...options,
    idleMs: 60_000,
  })
  await expect(socket.call([Buffer.from('one')], connection).next()).rejects.toMatchObject({
    reason: { kind: 'not_configured' },
  })
})

test('a long message arrives as one, in fragments that may end inside a character', async () => {
  const { ask, accepted, socket } = await place()
  const text = '€'.repeat(900_000)
  const [received] = await Promise.all([ask(text), accepted.then((other) => other.ping())])
  expect(received === `received ${text}`).toBe(true)
  expect([await ask('two'), socket.isOpen]).toEqual(['received two', true])
})

test('a socket that breaks inside a message fails the call like any other', async () => {
  const { next, end, socket, ask } = await blockedCall()
  end()
  await expect(next).rejects.toMatchObject({
    reason: { kind: 'network', details: { no_socket: true }, [CAUSE]: { noSocket: true } },
  })
  expect([socket.isOpen, await ask('again')]).toEqual([false, 'received again'])
})

test('a call that is interrupted inside a message ends the socket', async () => {
  const { next, caller, socket } = await blockedCall()
  caller.abort()
  await expect(next).rejects.toMatchObject({ reason: { kind: 'interrupted' } })
  expect(socket.isOpen).toBe(false)
})

test('an answer that arrives before the whole message was sent is read, and then the socket is closed', async () => {
  const { next, call, say, socket } = await blockedCall()
  say('too long')
  expect((await next).value).toEqual({ event: 'message', data: 'too long' })
  await call.return()
  expect(socket.isOpen).toBe(false)
})
