import { connect } from 'node:http2'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../../test/support/host/loopback-server.ts'
import { accessTo, relayPlace } from '../../../test/support/tether/relay-place.ts'
import { until } from '../../../test/support/host/virtual-clock.ts'
import { RELAY_URL } from '../../model/tether/relay-url.ts'

const LONG = 'x'.repeat(400_000)
const USAGE = '{"usage":{"input_tokens":1,"output_tokens":1}}'

/** A provider that reads what it gets, a relay to it, and a call whose body the test writes. */
async function place({ declared, ceilingUsd }: { declared?: number; ceilingUsd?: number } = {}) {
  const seen = { calls: 0, text: '', complete: 0, broken: 0 }
  const { url } = await serveHttp((request, response) => {
    seen.calls += 1
    request.on('data', (chunk: Buffer) => {
      seen.text += chunk.toString('latin1')
    })
    request.on('error', () => {})
    request.once('close', () => {
      if (!request.complete) seen.broken += 1
    })
    request.once('end', () => {
      seen.complete += 1
      response.setHeader('content-type', 'application/json')
      response.end(USAGE)
    })
  })
  const { socket, spends } = await relayPlace(accessTo('messages', url.slice(0, -1)), {
    ceilingUsd,
  })
  const session = connect(RELAY_URL, { createConnection: () => socket })
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  const stream = session.request({
    ':method': 'POST',
    ':path': '/v1/messages',
    ':authority': 'relay',
    'content-type': 'application/json',
    ...(declared === undefined ? {} : { 'content-length': declared }),
  })
  stream.on('error', () => {})
  stream.resume()
  const status = new Promise<unknown>((resolve) => {
    stream.once('response', (headers) => resolve(headers[':status']))
    stream.once('close', () => resolve(`reset ${stream.rstCode}`))
  })
  return { seen, spends, stream, status }
}

test('a body is sent while it arrives, and is complete when all of it is judged', async () => {
  const [head, tail] = [`{"model":"model","system":"${LONG}`, `${LONG}"}`]
  const { seen, spends, stream, status } = await place({ declared: head.length + tail.length })
  stream.write(head)
  await until(() => seen.text.length > 0)
  expect(seen).toMatchObject({ calls: 1, complete: 0 })
  stream.end(tail)
  expect(await status).toBe(200)
  expect(seen).toEqual({ calls: 1, text: head + tail, complete: 1, broken: 0 })
  await until(() => spends.length === 1)
})

test.each([
  ['a second model', '","model":"other"}'],
  ['a field that is not listed', '","mcp_servers":[]}'],
  ['something that is no JSON', '"]'],
  ['no end', '"'],
])('a provider never has a complete request with %s', async (_name, tail) => {
  const head = `{"model":"model","system":"${LONG}`
  const { seen, spends, stream, status } = await place({ declared: head.length + tail.length })
  stream.write(head)
  await until(() => seen.text.length > 0)
  stream.end(tail)
  expect(await status).toBe(403)
  await until(() => seen.broken === 1)
  expect(seen).toMatchObject({ calls: 1, complete: 0 })
  expect(head.startsWith(seen.text)).toBe(true)
  expect(spends).toEqual([])
})

test('a provider does not have the whole object before the body has ended', async () => {
  const object = `{"model":"model","system":"${LONG}"}`
  const { seen, stream, status } = await place({ declared: object.length + LONG.length + 1 })
  stream.write(object)
  stream.write(' '.repeat(LONG.length))
  await until(() => seen.text.length > 0)
  stream.end(',')
  expect(await status).toBe(403)
  await until(() => seen.broken === 1)
  expect([seen.complete, seen.text.includes('"}')]).toEqual([0, false])
})

test.each([
  ['whose model is not known yet', `{"system":"${LONG}${LONG}`, '","model":"other"}', true],
  ['without a declared length', `{"model":"model","system":"${LONG}`, '","tools":[]]', false],
  ['with a wrong model', `{"model":"other","system":"${LONG}`, '"}', true],
])('nothing of a refused body %s is sent', async (_name, head, tail, isDeclared) => {
  const declared = isDeclared ? { declared: head.length + tail.length } : {}
  const { seen, stream, status } = await place(declared)
  stream.write(head)
  stream.end(tail)
  expect(await status).toBe(403)
  expect(seen.calls).toBe(0)
})

test('a call without a budget is refused before a byte is sent', async () => {
  const head = `{"model":"model","system":"${LONG}`
  const { seen, stream, status } = await place({ declared: head.length + 2, ceilingUsd: 0 })
  stream.end(`${head}"}`)
  expect(await status).toBe(402)
  expect(seen.calls).toBe(0)
})

test('a body of another length than declared is never complete', async () => {
  const body = `{"model":"model","system":"${LONG}"}`
  for (const declared of [body.length - 1, body.length + 1]) {
    const { seen, stream, status } = await place({ declared })
    stream.end(body)
    expect(await status).not.toBe(200)
    await until(() => seen.calls === seen.broken)
    expect(seen.complete).toBe(0)
  }
})

test('a call that the guest gives up while its body is sent costs nothing', async () => {
  const head = `{"model":"model","system":"${LONG}`
  const { seen, spends, stream } = await place({ declared: 2 * head.length })
  stream.write(head)
  await until(() => seen.text.length > 0)
  stream.close(8)
  await until(() => seen.broken === 1)
  expect([seen.complete, spends]).toEqual([0, []])
})
