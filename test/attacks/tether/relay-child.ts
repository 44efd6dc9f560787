// A guest in a sandbox without a network: its only way out is the inherited descriptor 5. Prints what it found.
import { readdirSync, readFileSync } from 'node:fs'
import { connect, Socket } from 'node:net'
import process from 'node:process'
import { relayFetch } from '../../../src/host/net/relay-fetch.ts'
import { RELAY_URL } from '../../../src/model/tether/relay-url.ts'

const [port = ''] = process.argv.slice(2)
const socket = new Socket({ fd: 5 })
const fetch = relayFetch(socket)

function call(): Promise<Response> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  return fetch(`${RELAY_URL}/v1/messages`, { ...init, body: '{"model":"model","messages":[]}' })
}

function connected(): Promise<string> {
  return new Promise((resolve) => {
    const direct = connect(Number(port), '127.0.0.1', () => resolve('connected'))
    direct.on('error', (error) => resolve('code' in error ? String(error.code) : error.name))
  })
}

/** The environments and command lines of all visible processes. */
function visible(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => ['environ', 'cmdline'].map((name) => `/proc/${pid}/${name}`))
    .map((path) => {
      try {
        return readFileSync(path, 'utf8')
      } catch {
        return ''
      }
    })
    .join('\n')
}

// The first answer is never read.
const stalled = await call()
const answers = await Promise.all(Array.from({ length: 8 }, call))
const lengths = await Promise.all(answers.map(async (answer) => (await answer.text()).length))
process.stdout.write(
  JSON.stringify({
    stalled: stalled.status,
    lengths,
    direct: await connected(),
    visible: visible(),
  }),
)
socket.destroy()
