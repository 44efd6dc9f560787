import { afterEach, expect, test } from 'vitest'
import { CANARY_KEY } from '../../../test/support/host/canary.ts'
import { countedTether } from '../../../test/support/presenters/counted-tether.ts'
import { messageHost, type MessageHost } from '../../../test/support/presenters/message-host.ts'
import { virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { hawserMcp } from './hawser.ts'
import { serveMcp } from './serve.ts'

const started: MessageHost[] = []
afterEach(() => {
  for (const host of started.splice(0)) host.end()
})

const CLIENT = { name: 'test', version: '1' }

function serve(): MessageHost {
  const clock = virtualClock()
  const host = messageHost()
  started.push(host)
  const parts = { tether: countedTether(), clock, ids: { request: () => 'req_1' }, version: '1' }
  const redactor = new Redactor([CANARY_KEY])
  const served = hawserMcp({ ...parts, onDefect: () => {}, redactor })
  const { streams } = host
  void serveMcp({ ...served, streams, clock, stop: new Promise(() => {}) })
  return host
}

function call(host: MessageHost, id: number | string, name: string, args: object) {
  host.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })
  return host.answer(id)
}

test.each([
  ['initialize', { protocolVersion: 1, capabilities: {}, clientInfo: CLIENT }, 'protocolVersion'],
  ['initialize', undefined, 'params'],
  ['initialize', { protocolVersion: '2025-11-25', capabilities: [], clientInfo: 7 }, 'clientInfo'],
  ['tools/call', { name: 5 }, 'name'],
  ['tools/call', { name: 'tether_read', arguments: [] }, 'arguments'],
  ['tools/list', { cursor: { [CANARY_KEY]: 1 } }, 'cursor'],
])('a wrong %s is answered with a short error', async (method, params, field) => {
  const host = serve()
  host.send({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) })
  const { error } = (await host.answer(1)) as { error: { code: number; message: string } }
  expect(error.code).toBe(-32_602)
  expect(error.message).toMatch(/^Invalid request: [^\n{[]+\.$/)
  expect(error.message).toContain(field)
})

test('no answer repeats a key, except in the id of a request', async () => {
  const host = serve()
  const { id, ...rest } = await call(host, CANARY_KEY, `x${CANARY_KEY}`, {})
  expect(id).toBe(CANARY_KEY)
  const answers = [
    rest,
    await call(host, 1, 'tether_read', { [CANARY_KEY]: 1 }),
    await call(host, 2, 'tether_read', { instance: 'boat', types: [CANARY_KEY] }),
    await call(host, 3, 'instance_info', { instance: CANARY_KEY }),
  ]
  expect(JSON.stringify(answers)).not.toContain(CANARY_KEY.slice(3, 20))
})
