// The relay through bubblewrap, over an inherited descriptor, as a guest uses it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import process from 'node:process'
import { Duplex } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { systemProgram } from '../../../src/host/process/system-program.ts'
import { RELAY_URL } from '../../../src/model/tether/relay-url.ts'
import { openRelay } from '../../../src/tether/relay/relay.ts'
import { NO_SPEND } from '../../../src/tether/relay/rules.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { CANARY_KEY, CANARY_PARTS } from '../../support/host/canary.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { serveHttp } from '../../support/host/loopback-server.ts'
import { accessTo, relayPlace } from '../../support/tether/relay-place.ts'

const BWRAP = await systemProgram('bwrap')
const ANSWER = `data: ${CANARY_KEY}\n\n`.repeat(20_000)
const SHOWN = ANSWER.replaceAll(CANARY_KEY, '[redacted key]')

test.skipIf(BWRAP === undefined)(
  'without a network, a guest makes eight calls at once beside one that it does not read',
  async () => {
    const folder = await freshFolder()
    const script = await bundleScript(new URL('relay-child.ts', import.meta.url), folder)
    const { url } = await serveHttp((request, response) => {
      request.resume().once('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER)
      })
    })
    const node = process.execPath
    const mounts = ['/usr', '/lib', '/lib64', '/bin', '/etc', dirname(node), folder].flatMap(
      (path) => ['--ro-bind-try', path, path],
    )
    // The folder may lie below /dev.
    const box = ['--unshare-all', '--die-with-parent', '--clearenv', '--dev', '/dev', ...mounts]
    const args = [...box, '--proc', '/proc', node, script, new URL(url).port]
    const child = spawn(BWRAP ?? '', args, {
      stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'ignore', 'pipe'],
      env: {},
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ends: readonly unknown[] = child.stdio
    const socket = ends[5]
    if (!(socket instanceof Duplex)) throw new Error('no socket')
    const relay = openRelay(socket, {
      access: accessTo('messages', url.slice(0, -1)),
      models: ['model'],
      spentBefore: NO_SPEND,
      onSpend: () => {},
      clock: systemClock,
      log: () => {},
    })
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    await once(child, 'close')
    expect(child.exitCode).toBe(0)
    expect(JSON.parse(output)).toEqual({
      stalled: 200,
      lengths: Array.from({ length: 8 }, () => SHOWN.length),
      direct: expect.stringMatching(/^E(CONNREFUSED|NETUNREACH)$/),
      visible: expect.any(String),
    })
    expect(CANARY_PARTS.filter((part) => output.includes(part))).toEqual([])
    expect(await relay.closed).toBeUndefined()
    expect(relay.spend.calls).toBe(9)
  },
)

test('eight bodies of 25 MiB arrive at once', async () => {
  const { url } = await serveHttp((request, response) => {
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
    })
    request.once('end', () => void response.end(String(length)))
  })
  const { fetch } = await relayPlace(accessTo('messages', url.slice(0, -1)))
  const body = JSON.stringify({ model: 'model', system: 'x'.repeat(25 * 1024 * 1024) })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const lengths = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const answer = await fetch(`${RELAY_URL}/v1/messages`, init)
      return [answer.status, await answer.text()]
    }),
  )
  expect(new Set(lengths.map(String))).toEqual(new Set([`200,${body.length}`]))
})
