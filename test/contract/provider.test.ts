import { onTestFinished } from 'vitest'
import type { OutgoingRequest, Provider } from '../../src/providers/provider.ts'
import { rehearsalProvider } from '../../src/providers/rehearsal/stream.ts'
import { openRehearsal } from '../support/rehearsal-server.ts'
import { dialectOf, providerOf, type WireWay } from '../support/ways.ts'
import {
  IDLE_MS,
  SLOW_MS,
  providerContract,
  type ProviderKind,
  type ProviderUnderTest,
  type Trouble,
} from './provider.ts'

// One suite for every transport to a model: any provider that passes it can replace another.

providerContract({
  name: 'the rehearsal model in this process',
  make: async () => {
    const provider = rehearsalProvider({ chunk: 4, delayMs: 0 })
    return { provider, send: (request, signal) => provider.stream(request.body, signal) }
  },
})

for (const way of ['messages', 'responses', 'chat', 'websocket'] as const) {
  providerContract(overWire(way))
}

function overWire(way: WireWay): ProviderKind {
  return {
    name: way === 'websocket' ? 'responses over a socket' : `${way} over HTTP`,
    make: () => served(way),
    troubled: (trouble) => served(way, trouble),
  }
}

/** The rehearsal model behind a server on this machine, which refuses what the vendor would refuse. */
async function served(way: WireWay, trouble?: Trouble): Promise<ProviderUnderTest> {
  const vendor = await openRehearsal()
  const dialect = dialectOf(way)
  // A switch that changes nothing shows that refusals are real and not mistakes of the test.
  const switches = trouble === undefined ? 'delay:0' : switchesOf(trouble)
  const provider = providerOf(
    way,
    vendor.baseUrl(dialect, switches),
    trouble === 'silent' ? IDLE_MS : undefined,
  )
  const sessions = new Set<string>()
  onTestFinished(() => sessions.forEach((session) => provider.leave?.(session)))
  return {
    provider,
    reached: () => vendor.requests.length,
    send: (request, signal) => {
      sessions.add(request.session)
      return passing(provider, request, signal)
    },
  }
}

function passing(provider: Provider, request: OutgoingRequest, signal: AbortSignal) {
  const delivery = provider.delivery?.(request)
  return delivery === undefined ? provider.stream(request.body, signal) : delivery.stream(signal)
}

function switchesOf(trouble: Trouble): string {
  if (trouble === 'closed') return 'close'
  if (trouble === 'malformed') return 'malformed'
  if (trouble === 'silent' || trouble === 'slow') return `delay:${SLOW_MS}`
  return 'status' in trouble ? `status:${trouble.status}` : `cut:${trouble.cutAfter}`
}
