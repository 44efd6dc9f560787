import type { Fixture, FixtureResponse } from '@copilotkit/aimock'
import { expect, onTestFinished } from 'vitest'
import type { OutgoingRequest, Provider } from '../../src/providers/provider.ts'
import { rehearsalProvider } from '../../src/providers/rehearsal/stream.ts'
import { VENDOR_DIALECTS } from '../support/providers/dialects.ts'
import { openRehearsal } from '../support/providers/rehearsal-server.ts'
import { aimockServer } from '../support/providers/vendor-server.ts'
import type { VendorDialect } from '../support/providers/vendor-schemas.ts'
import { dialectOf, providerOf, type WireWay } from '../support/providers/ways.ts'
import {
  ANSWER,
  FOREIGN_BODY,
  IDLE_MS,
  QUESTION,
  READ,
  SLOW_MS,
  type ProviderKind,
  type ProviderUnderTest,
  type Trouble,
} from './provider.ts'

/** Every transport to a model. */
export const PROVIDER_KINDS: readonly ProviderKind[] = [
  {
    name: 'the rehearsal model in this process',
    make: async () => {
      const provider = rehearsalProvider({ chunk: 4, delayMs: 0 })
      return { provider, send: (request, signal) => provider.stream(request.body, signal) }
    },
  },
  ...(['messages', 'responses', 'chat', 'websocket'] as const).map(overWire),
  ...VENDOR_DIALECTS.map(overAimock),
]

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

/** A server that shares no code with ours. */
function overAimock(dialect: VendorDialect): ProviderKind {
  return {
    name: `${dialect} over HTTP, with aimock`,
    make: () => mocked(dialect),
    troubled: (trouble) => mocked(dialect, trouble),
  }
}

async function mocked(dialect: VendorDialect, trouble?: Trouble): Promise<ProviderUnderTest> {
  const fixtures = [READ, QUESTION].map((text) => ({
    match: { userMessage: text },
    response: trouble === undefined ? answerTo(text) : troubledAnswer(text, trouble),
    chunkSize: 4,
    ...(trouble === undefined ? {} : pace(trouble)),
  }))
  const server = await aimockServer(fixtures)
  onTestFinished(async () => {
    const foreign = server.requests.some(({ bytes }) => bytes.equals(FOREIGN_BODY))
    const closed = server.close()
    await (foreign ? expect(closed).rejects.toThrow('invalid requests') : closed)
  })
  const idleMs = trouble === 'silent' ? IDLE_MS : undefined
  const provider = providerOf(dialect, server.baseUrl(dialect), idleMs)
  return {
    provider,
    reached: () => server.requests.length,
    send: (request, signal) => passing(provider, request, signal),
  }
}

function answerTo(text: string): FixtureResponse {
  // Under the name that each dialect uses.
  const usage = { input_tokens: 40, output_tokens: 9, prompt_tokens: 40, completion_tokens: 9 }
  return text === READ
    ? { usage, toolCalls: [{ id: 'call_read', name: 'read', arguments: '{"path":"notes.txt"}' }] }
    : { usage, content: `This is the ${ANSWER}.` }
}

function troubledAnswer(text: string, trouble: Trouble): FixtureResponse {
  if (typeof trouble === 'string' || 'cutAfter' in trouble) return answerTo(text)
  const { status } = trouble
  return { error: { message: `status ${status}`, type: 'server_error' }, status }
}

/** The options of a fixture that cause a fault, in addition to its answer. */
function pace(trouble: Trouble): Pick<Fixture, 'latency' | 'chaos' | 'truncateAfterChunks'> {
  if (trouble === 'closed') return { chaos: { disconnectRate: 1 } }
  if (trouble === 'malformed') return { chaos: { malformedRate: 1 } }
  if (trouble === 'silent' || trouble === 'slow') return { latency: SLOW_MS }
  // A chunk is about 150 bytes on the wire.
  return 'cutAfter' in trouble
    ? { truncateAfterChunks: 1 + Math.floor(trouble.cutAfter / 150) }
    : {}
}
