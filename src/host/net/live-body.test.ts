import { expect, test } from 'vitest'
import { liveBody } from './live-body.ts'

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString()

async function all(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text()
}

test('a reader gets what is sent, in order, before and after it reads, then the end', async () => {
  const body = liveBody()
  expect(body.send(Buffer.from('a'))).toBe(true)
  const read = all(body.stream)
  body.send(Buffer.from('b'))
  await Promise.resolve()
  body.send(Buffer.from('c'))
  body.end()
  body.end()
  expect([await read, body.send(Buffer.from('late'))]).toEqual(['abc', false])
})

test('a reader that waits gets bytes as soon as they are sent', async () => {
  const body = liveBody()
  const reader = body.stream.getReader()
  const first = reader.read()
  body.send(Buffer.from('now'))
  expect(text((await first).value)).toBe('now')
})

test('a reader that never reads is dropped at the limit and costs nothing more', async () => {
  const gone: string[] = []
  const farewell = Buffer.from('resync')
  const body = liveBody({ mostBytes: 1000, farewell, onGone: (why) => gone.push(why) })
  const piece = Buffer.alloc(100)
  let accepted = 0
  while (body.send(piece)) accepted += 1
  expect([accepted, gone, body.send(piece)]).toEqual([10, ['too_slow'], false])
  expect(await all(body.stream)).toBe('resync')
})

test('many tiny pieces cannot exceed the limit either', () => {
  const body = liveBody({ mostBytes: 6400 })
  let accepted = 0
  while (body.send(Buffer.from('x'))) accepted += 1
  expect(accepted).toBe(100)
})

test('a reader that keeps up is never dropped', async () => {
  const body = liveBody({ mostBytes: 1000 })
  const reader = body.stream.getReader()
  for (let i = 0; i < 100; i++) {
    expect(body.send(Buffer.alloc(900))).toBe(true)
    expect((await reader.read()).value?.length).toBe(900)
  }
})

test('a reader that disconnects is reported once, and nothing more is held', async () => {
  const gone: string[] = []
  const body = liveBody({ onGone: (why) => gone.push(why) })
  body.send(Buffer.from('a'))
  await body.stream.cancel()
  expect([body.send(Buffer.from('b')), gone]).toEqual([false, ['disconnected']])
})

test('a producer that waits continues when the reader has taken most of it, or is gone', async () => {
  const body = liveBody()
  const piece = Buffer.alloc(40_000)
  body.send(piece)
  await body.room()
  body.send(piece)
  const steps: string[] = []
  const waiting = body.room().then(() => steps.push('room'))
  await Promise.resolve()
  steps.push('read')
  await body.stream.getReader().read()
  await waiting
  expect(steps).toEqual(['read', 'room'])
  const left = liveBody()
  left.send(piece)
  left.send(piece)
  const gone = left.room()
  await left.stream.cancel()
  await gone
})
