import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import { chatProvider } from '../../../src/providers/chat/stream.ts'
import { messagesProvider } from '../../../src/providers/messages/stream.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { responsesProvider } from '../../../src/providers/responses/stream.ts'
import { CANARY_KEY } from '../host/canary.ts'
import { DIALECTS } from './dialects.ts'
import { withChanges, type Changes } from '../session/harness-parts.ts'
import { harnessPlace, type HarnessPlace } from '../session/harness-place.ts'
import { LONG } from '../host/long.ts'
import { openRehearsal, type RehearsalVendor } from './rehearsal-server.ts'
import type { VendorDialect } from './vendor-schemas.ts'

/** The ways in which a Session can reach the rehearsal model: in process, or by dialect and transport. */
export type Way = 'in process' | 'messages' | 'responses' | 'websocket' | 'chat'
/** The ways that this run covers: `npm test` covers two, and `npm run test:long` the others. */
export const WAYS: readonly Way[] = LONG
  ? ['responses', 'websocket', 'chat']
  : ['in process', 'messages']
export type WireWay = Exclude<Way, 'in process'>

export interface WayPlace extends HarnessPlace {
  readonly root: string
  /** The options that create a Session which uses this way. */
  readonly begin: { readonly provider: string; readonly model: string }
  /** The server; `undefined` in process. */
  readonly vendor: RehearsalVendor | undefined
}

export interface WayOptions {
  readonly changes?: Changes
  readonly root?: string
  readonly vendor?: RehearsalVendor | undefined
  /** Switches for faults, such as `cut:300,once`. */
  readonly switches?: string
}

/** A workspace whose Sessions reach the rehearsal model in one way. A request that the server refuses fails the test. */
export async function wayPlace(way: Way, options: WayOptions = {}): Promise<WayPlace> {
  const { changes = {}, root, switches } = options
  if (way === 'in process') {
    const place = await harnessPlace(changes, root)
    return { ...place, begin: { provider: 'rehearsal', model: 'rehearsal' }, vendor: undefined }
  }
  const vendor = options.vendor ?? (await newVendor())
  const provider = providerOf(way, vendor.baseUrl(dialectOf(way), switches))
  const connected: Changes = {
    model: {
      providerOf: async (name) =>
        name === way ? ok(provider) : failed('not_configured', `There is no provider ${name}.`),
      dialectOf: async () => ok(DIALECTS[dialectOf(way)]),
      dialectNameOf: () => dialectOf(way),
    },
    log: { secrets: [CANARY_KEY] },
  }
  // Without a window, every Session would say that it is unknown.
  const window: Changes = {
    model: {
      factsOf: (...named) => ({
        window_tokens: 1_000_000,
        ...changes.model?.factsOf?.(...named),
      }),
    },
  }
  const place = await harnessPlace(withChanges(withChanges(connected, changes), window), root)
  return { ...place, begin: { provider: way, model: 'rehearsal' }, vendor }
}

async function newVendor(): Promise<RehearsalVendor> {
  const vendor = await openRehearsal()
  onTestFinished(() => vendor.close())
  return vendor
}

export function dialectOf(way: WireWay): VendorDialect {
  return way === 'websocket' ? 'responses' : way
}

export function providerOf(way: WireWay, baseUrl: string, idleMs = 60_000): Provider {
  const options = { key: CANARY_KEY, baseUrl, idleMs, clock: systemClock }
  switch (way) {
    case 'messages':
      return messagesProvider(options)
    case 'chat':
      return chatProvider(options)
    case 'responses':
      return responsesProvider({ ...options, transport: 'http-sse' })
    case 'websocket':
      return responsesProvider({ ...options, transport: 'websocket' })
  }
}
