// The daemon of relay.bench.ts: starts the guest with one end of a socket and relays its calls. What the guest prints is the
// measurement.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { Duplex } from 'node:stream'
import { composeRelayAccess } from '../src/compose-relay.ts'
import { systemClock } from '../src/host/clock.ts'
import { isRemoteProvider } from '../src/model/remote-providers.ts'
import { openRelay } from '../src/tether/relay/relay.ts'
import { NO_SPEND } from '../src/tether/relay/rules.ts'
import { value } from '../test/support/story.ts'

const [guest = '', provider = '', relayedUrl = '', ...args] = process.argv.slice(2)
if (!isRemoteProvider(provider)) throw new Error(`there is no provider ${provider}`)

const child = spawn(process.execPath, [guest, ...args], {
  stdio: ['ignore', 'inherit', 'inherit', 'ignore', 'ignore', 'pipe'],
})
const ends: readonly unknown[] = child.stdio
const socket = ends[5]
if (!(socket instanceof Duplex)) throw new Error('no socket')
const settings = {
  providers: { [provider]: { base_url: relayedUrl, key: 'key-of-the-bench' } },
  models: { bench: { prices: { input: 1, cached_read: 1, cache_write: 1, output: 1 } } },
}
openRelay(socket, {
  access: value(composeRelayAccess(provider, {}, settings)),
  models: ['bench'],
  ceilingUsd: 1_000_000,
  spent: NO_SPEND,
  onSpend: () => {},
  clock: systemClock,
  log: () => {},
})
await once(child, 'close')
process.exitCode = child.exitCode ?? 1
