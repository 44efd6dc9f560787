import { expect, test } from 'vitest'
import { messageHost } from '../../../test/support/presenters/message-host.ts'
import { until, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { LineTransport } from './line-transport.ts'

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } as const
const ANSWER = { jsonrpc: '2.0', id: 1, result: {} } as const

function transportTo(written?: () => Promise<boolean>) {
  const host = messageHost(written)
  const clock = virtualClock()
  let ended = 0
  let closed = 0
  const transport = new LineTransport({
    streams: host.streams,
    clock,
    onEnding: () => void (ended += 1),
    holdBytes: 100,
  })
  Object.assign(transport, { onclose: () => void (closed += 1) })
  return { host, clock, transport, counts: () => ({ ended, closed }) }
}

test('no input is read while much output waits for its reader', async () => {
  let open: (written: boolean) => void = () => {}
  const gate = new Promise<boolean>((resolve) => {
    open = resolve
  })
  const { host, transport } = transportTo(() => gate)
  await transport.start()
  const first = transport.send(ANSWER)
  expect(host.isHeld).toBe(false)
  const second = transport.send({ ...ANSWER, result: { text: 'a'.repeat(100) } })
  expect(host.isHeld).toBe(true)
  open(true)
  await Promise.all([first, second])
  expect(host.isHeld).toBe(false)
  expect(host.messages).toHaveLength(2)
})

test('after the end of the input, it closes when the last request is answered', async () => {
  const { host, transport, counts } = transportTo()
  await transport.start()
  host.send(LIST)
  host.end()
  expect(counts()).toEqual({ ended: 1, closed: 0 })
  await transport.send(ANSWER)
  await transport.closed
  expect(counts()).toEqual({ ended: 1, closed: 1 })
})

test('after the end of the input, a request that takes too long is given up', async () => {
  const { host, transport, clock, counts } = transportTo()
  await transport.start()
  host.send(LIST)
  host.end()
  clock.advance(30_000)
  await transport.closed
  expect(counts()).toEqual({ ended: 1, closed: 1 })
  await transport.send(ANSWER)
  expect(host.messages).toEqual([])
})

test('a cancelled request is not waited for', async () => {
  const { host, transport, counts } = transportTo()
  await transport.start()
  host.send(LIST)
  host.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  host.end()
  await transport.closed
  expect(counts()).toEqual({ ended: 1, closed: 1 })
})

test('it is closed only after everything was written', async () => {
  let open: (written: boolean) => void = () => {}
  const gate = new Promise<boolean>((resolve) => {
    open = resolve
  })
  const { host, transport } = transportTo(() => gate)
  await transport.start()
  void transport.send(ANSWER)
  host.end()
  let isClosed = false
  void transport.closed.then(() => {
    isClosed = true
  })
  await new Promise((resolve) => void setImmediate(resolve))
  expect(isClosed).toBe(false)
  open(true)
  await until(() => isClosed)
  expect(host.messages).toEqual([ANSWER])
})
