import { systemClock } from '../../../src/host/clock.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import type { ProviderOptions } from '../../../src/providers/call.ts'
import { chatProvider } from '../../../src/providers/chat/stream.ts'
import { messagesProvider } from '../../../src/providers/messages/stream.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { responsesProvider } from '../../../src/providers/responses/stream.ts'
import { DIALECTS, type DialectName } from './dialects.ts'
import type { Changes } from '../session/harness-parts.ts'
import type { VendorDialect } from './vendor-schemas.ts'

const PROVIDERS: Readonly<Record<VendorDialect, (options: ProviderOptions) => Provider>> = {
  messages: messagesProvider,
  responses: responsesProvider,
  chat: chatProvider,
}

export interface VendorPartsOptions {
  readonly key: string
  readonly baseUrl: (dialect: VendorDialect) => string
  readonly retries: number
  readonly idleMs: number
  /** The time of day for the providers. */
  readonly now?: () => number
}

/** Parts of a Session whose vendors are all one server; each provider has the name of its dialect. */
export function vendorParts({
  key,
  baseUrl,
  retries,
  idleMs,
  now = () => systemClock.now(),
}: VendorPartsOptions) {
  const made = new Map<string, Provider>()
  const providerOf = (name: string): Provider | undefined => {
    if (!isVendor(name)) return undefined
    const options = { key, baseUrl: baseUrl(name), idleMs, clock: { ...systemClock, now } }
    const provider = made.get(name) ?? PROVIDERS[name](options)
    made.set(name, provider)
    return provider
  }
  return {
    model: {
      providerOf: async (name) => {
        const provider = providerOf(name)
        return provider === undefined ? failed('not_configured', 'none') : ok(provider)
      },
      dialectOf: async (name) =>
        isDialect(name) ? ok(DIALECTS[name]) : failed('not_found', 'none'),
      limits: { provider_calls: 100, retries },
    },
    log: { secrets: [key] },
  } satisfies Changes
}

function isVendor(name: string): name is VendorDialect {
  return Object.hasOwn(PROVIDERS, name)
}

function isDialect(name: string): name is DialectName {
  return Object.hasOwn(DIALECTS, name)
}
