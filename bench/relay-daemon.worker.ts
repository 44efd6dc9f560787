// The server of relay.bench.ts: starts the guest with one end of two sockets and relays its calls, on one of them by the bare
// relay. What the guest prints is the measurement.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { Duplex } from 'node:stream'
import { composeRelayAccess } from '../src/compose/relay.ts'
import { systemClock } from '../src/host/clock.ts'
import { isRemoteProvider } from '../src/model/remote-providers.ts'
import { openRelay } from '../src/tether/relay/relay.ts'
import { NO_SPEND } from '../src/tether/relay/rules.ts'
import { value } from '../test/support/log/story.ts'
import { openBareRelay } from './bare-relay.ts'

const [guest = '', provider = '', relayedUrl = '', bareUrl = '', ...args] = process.argv.slice(2)
if (!isRemoteProvider(provider)) throw new Error(`there is no provider ${provider}`)

const child = spawn(process.execPath, [guest, ...args], {
  stdio: ['ignore', 'inherit', 'inherit', 'ignore', 'ignore', 'pipe', 'pipe'],
})
const ends: readonly unknown[] = child.stdio
const [, , , , , socket, bareSocket] = ends
if (!(socket instanceof Duplex && bareSocket instanceof Duplex)) throw new Error('no socket')
const settings = {
  providers: { [provider]: { base_url: relayedUrl, key: 'key-of-the-bench' } },
  models: { bench: { prices: { input: 1, cached_read: 1, cache_write: 1, output: 1 } } },
}
openRelay(socket, {
  access: value(composeRelayAccess(provider, {}, settings)),
  models: ['bench'],
  ceilingUsd: 1_000_000,
  spentBefore: NO_SPEND,
  onSpend: () => {},
  clock: systemClock,
  log: () => {},
})
openBareRelay(bareSocket, bareUrl)
await once(child, 'close')
process.exitCode = child.exitCode ?? 1
