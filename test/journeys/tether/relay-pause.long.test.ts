// What waits in the relay while its guest is really paused.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { httpPost } from '../../../src/host/net/http-post.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { wait } from '../../../src/host/wait.ts'
import { openRelay } from '../../../src/tether/relay/relay.ts'
import { NO_SPEND } from '../../../src/tether/relay/rules.ts'
import { hostileProgram } from '../../attacks/tether/hostile-guests.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { playGuest } from '../../support/tether/guest-play.ts'
import { serveHttp } from '../../support/host/loopback-server.ts'
import { accessTo } from '../../support/tether/relay-place.ts'
import { value } from '../../support/log/story.ts'

const status = await systemSandbox().status()
const CALLS = 32
/** What the system holds in the socket of the guest, which is not in the relay. */
const SOCKET_BYTES = 2 * 212_992

/** Reads the answers of all its calls, and keeps the number of bytes in a file. */
const READER = `
  const { openSync, writeSync: put } = require('node:fs')
  const file = openSync('received', 'w')
  let received = 0
  const session = require('node:http2').connect('http://relay', {
    createConnection: () => new (require('node:net').Socket)({ fd: 5 }),
  })
  for (let at = 0; at < ${CALLS}; at++) {
    const stream = session.request({
      ':method': 'POST', ':path': '/v1/messages', ':authority': 'relay', 'content-type': 'application/json',
    })
    stream.on('error', () => {})
    stream.on('data', (chunk) => {
      received += chunk.length
      put(file, String(received).padStart(16), 0)
    })
    stream.end('{"model":"model","messages":[]}')
  }`

test.runIf(status.isConfined)(
  'at most 4 MB of endless answers wait in the relay while its guest is paused, and all continue after it',
  async () => {
    const { url } = await serveHttp((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const piece = `data: ${'x'.repeat(8_000)}\n\n`
      const more = () => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', more)
      more()
    })
    const sockets = new Set<Socket>()
    const post: typeof open = (address, options) => {
      const opened = open(address, options)
      void opened.answer.then(({ body }) => {
        if ('socket' in body) sockets.add(body.socket as Socket)
      })
      return opened
    }
    const open = httpPost(systemClock)
    const { send, host, workspace } = await playGuest({
      root: await freshFolder(),
      program: { argv: hostileProgram(READER), readable: [] },
      relay: (socket) =>
        openRelay(socket, {
          access: { ...accessTo('messages', url.slice(0, -1)), post },
          models: ['model'],
          spentBefore: NO_SPEND,
          onSpend: () => {},
          clock: systemClock,
          log: () => {},
        }),
    })
    const taken = () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    const received = async () =>
      Number(await readFile(join(workspace, 'received'), 'utf8').catch(() => '0'))
    value(send('m1', 'Hello'))
    while (sockets.size < CALLS || (await received()) < 20_000_000) await wait(systemClock, 20)
    value(await host.pause())
    let before = -1
    while (before !== taken()) {
      before = taken()
      await wait(systemClock, 500)
    }
    const got = await received()
    expect(taken() - got).toBeLessThanOrEqual(4_000_000 + SOCKET_BYTES)
    expect(taken() - got).toBeGreaterThan(0)
    value(await host.resume())
    while ((await received()) < got + 20_000_000) await wait(systemClock, 20)
  },
)
