import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { composeRelayAccess } from '../../../src/compose/relay.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { openRelay } from '../../../src/tether/relay/relay.ts'
import { NO_SPEND } from '../../../src/tether/relay/rules.ts'
import { startGuest } from '../../support/tether/guest-program.ts'
import { value } from '../../support/log/story.ts'
import { hostileProgram } from './hostile-guests.ts'

/** Requests that a guest may not make, by the pseudo-headers and headers that differ from an allowed one. */
const MISUSES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'another origin': { ':authority': 'example.invalid' },
  'another port': { ':authority': 'relay:80' },
  'another scheme': { ':scheme': 'https' },
  'another path': { ':path': '/v1/files' },
  'a path below': { ':path': '/v1/messages/batches' },
  'a path that climbs': { ':path': '/v1/messages/../files' },
  'a query': { ':path': '/v1/messages?beta=true' },
  'another method': { ':method': 'PUT' },
  'a GET': { ':method': 'GET' },
  'another content type': { 'content-type': 'multipart/form-data' },
  'an encoded body': { 'content-encoding': 'gzip' },
}

const WRONG_BODIES: Readonly<Record<string, string>> = {
  'another model': '{"model":"other","messages":[]}',
  'two models': '{"model":"model","model":"other","messages":[]}',
  'an escaped model': '{"model":"model","mod\\u0065l":"other","messages":[]}',
  'another field': '{"model":"model","mcp_servers":[]}',
  'no JSON': 'hello',
}

/** Each name, and the status that the guest saw. */
export const MISUSE_OUTCOMES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Object.keys(MISUSES).map((name) => [name, 403])),
  ...Object.fromEntries(Object.keys(WRONG_BODIES).map((name) => [name, 403])),
  'an endless body': 413,
  'a body that stops': 408,
  'headers of its own': 200,
}

const SCRIPT = `
  const session = require('node:http2').connect('http://relay', {
    createConnection: () => new (require('node:net').Socket)({ fd: 5 }),
  })
  session.on('error', () => {})
  const call = { ':method': 'POST', ':path': '/v1/messages', ':authority': 'relay', ':scheme': 'http', 'content-type': 'application/json' }
  const attempt = (headers, send) => new Promise((resolve) => {
    const stream = session.request({ ...call, ...headers }, { endStream: false })
    stream.on('error', () => {})
    stream.once('response', (answer) => resolve(answer[':status']))
    stream.once('close', () => resolve('reset ' + stream.rstCode))
    stream.on('data', (chunk) => console.log(String(chunk)))
    send(stream)
  })
  const good = '{"model":"model","messages":[]}'
  const piece = Buffer.alloc(1 << 20, 120)
  const endless = (stream) => {
    const more = () => { while (!stream.destroyed && stream.write(piece)); }
    stream.write('{"model":"model","system":"')
    stream.on('drain', more)
    more()
  }
  const run = async () => {
    const seen = {}
    for (const [name, headers] of Object.entries(${JSON.stringify(MISUSES)}))
      seen[name] = await attempt(headers, (stream) => stream.end(good))
    for (const [name, body] of Object.entries(${JSON.stringify(WRONG_BODIES)}))
      seen[name] = await attempt({}, (stream) => stream.end(body))
    seen['an endless body'] = await attempt({}, endless)
    seen['a body that stops'] = await attempt({}, (stream) => stream.write('{"model":'))
    const own = { authorization: 'Bearer own', 'x-api-key': 'own', host: 'example.invalid', 'x-forwarded-for': '1.2.3.4' }
    seen['headers of its own'] = await attempt(own, (stream) => stream.end(good))
    console.log('seen ' + JSON.stringify(seen))
    process.exit(0)
  }
  run()`

/** Runs a guest in its sandbox that misuses its relay: what it saw, and what reached the provider, which should be one call. */
export async function misuseRelay(root: string): Promise<unknown> {
  const key = `key-${randomBytes(16).toString('hex')}`
  const reached: unknown[] = []
  const provider = createServer((request, response) => {
    request.resume().once('end', () => {
      const { method, url, headers } = request
      const { authorization, 'x-api-key': other, 'x-forwarded-for': forwarded } = headers
      const isKey = authorization === `Bearer ${key}` && other === undefined
      reached.push({ method, url, isKey, forwarded })
      response.end(`{"echo":"${authorization}"}`)
    })
  })
  await new Promise<void>((resolve) => void provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo
  const entry = { base_url: `http://127.0.0.1:${port}`, key }
  const access = value(composeRelayAccess('anthropic', {}, { providers: { anthropic: entry } }))
  const started = await startGuest({
    root,
    program: { argv: hostileProgram(SCRIPT), readable: [] },
    relay: (socket) =>
      openRelay(socket, {
        access,
        models: ['model'],
        spentBefore: NO_SPEND,
        onSpend: () => {},
        // Half a minute takes a third of a second.
        clock: { ...systemClock, after: (ms, then) => systemClock.after(ms / 100, then) },
        log: () => {},
      }),
  })
  if (!started.ok) return `not started: ${started.error.kind} ${started.error.message}`
  const { send, host, output } = started.value
  send('m1', 'Hello')
  await host.ended
  provider.close()
  const seen: unknown = JSON.parse(/seen (.*)/.exec(output())?.[1] ?? 'null')
  return { seen, reached, isKeySeen: output().includes(key.slice(0, 20)) }
}
