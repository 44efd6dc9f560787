import type { Clock } from '../host/clock.ts'
import type { Fetch } from '../host/net/http.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import { LIMIT_DEFAULTS } from '../model/limits.ts'
import {
  isRemoteProvider,
  OFFLINE_PROVIDER,
  type RemoteProvider,
} from '../model/remote-providers.ts'
import type { Describe } from '../model/description.ts'
import { RELAY_URL } from '../model/tether/relay-url.ts'
import { catalogue } from '../providers/models/catalogue.ts'
import type { Dialect, Provider } from '../providers/provider.ts'
import { rehearsalProvider } from '../providers/rehearsal/stream.ts'
import { DIALECT_OF, DIALECTS, isDialect } from '../providers/remote/dialects.ts'
import { credentialsOf } from '../session/settings/credentials.ts'
import type { EffectiveSettings } from '../session/settings/effective-settings.ts'
import { transportOf } from '../session/settings/transport.ts'

/** A provider behind the relay of a guest: no key is looked for, because the server adds it. */
export interface RelayedProvider {
  readonly provider: RemoteProvider
  readonly fetch: Fetch
}

/** The providers of this version, by the names that people and Events use; each is loaded on first use. */
export function composeProviders(
  env: Readonly<Record<string, string | undefined>>,
  { settings }: EffectiveSettings,
  { clock, relay }: { readonly clock: Clock; readonly relay: RelayedProvider | undefined },
) {
  const models = catalogue(settings.models ?? {})
  const idleMs = (settings.limits?.idle_seconds ?? LIMIT_DEFAULTS.idle_seconds) * 1000
  const made = new Map<string, Provider>()
  const relayed = async (name: RemoteProvider, { provider, fetch }: RelayedProvider) => {
    if (name !== provider) return notRelayed(name, provider)
    const way = { key: undefined, baseUrl: RELAY_URL, fetch, transport: 'relayed' as const }
    return ok(await DIALECTS[DIALECT_OF[name]].provider({ ...way, idleMs, clock }))
  }
  const make = async (name: string): Promise<Result<Provider>> => {
    if (name === OFFLINE_PROVIDER)
      return ok(rehearsalProvider({ chunk: 24, delayMs: 0, describe: lazyDescribe }))
    if (!isRemoteProvider(name)) return unknownProvider(name)
    if (relay !== undefined) return relayed(name, relay)
    const credentials = credentialsOf(name, env, settings)
    if (!credentials.ok) return credentials
    const transport = transportOf(env, settings)
    if (!transport.ok) return transport
    const { key, baseUrl } = credentials.value
    const options = { key, baseUrl, idleMs, clock, transport: transport.value }
    return ok(await DIALECTS[DIALECT_OF[name]].provider(options))
  }
  return {
    models,
    factsOf: models.factsOf,
    dialectNameOf: (name: string) => {
      if (name === OFFLINE_PROVIDER) return 'rehearsal' as const
      return isRemoteProvider(name) ? DIALECT_OF[name] : undefined
    },
    providerOf: async (name: string): Promise<Result<Provider>> => {
      const known = made.get(name)
      if (known !== undefined) return ok(known)
      const provider = await make(name)
      if (provider.ok) made.set(name, provider.value)
      return provider
    },
    dialectOf: async (name: string): Promise<Result<Dialect>> => {
      if (isDialect(name)) return ok({ ...(await DIALECTS[name].dialect()), dialect: name })
      if (name === 'rehearsal') return ok(rehearsalProvider({ chunk: 24, delayMs: 0 }))
      const known = [...Object.keys(DIALECTS), 'rehearsal']
      return failed(
        'not_found',
        `Unknown dialect "${name}". Expected one of ${known.join(', ')}.`,
        { known },
      )
    },
  }
}

function notRelayed(name: string, provider: string): Failed {
  const why = `This agent can use only the provider ${provider}, not ${name}.`
  return failed('not_configured', why, { provider: name, known: [provider] })
}

function unknownProvider(name: string): Failed {
  const known = [...Object.keys(DIALECT_OF), OFFLINE_PROVIDER]
  return failed(
    'not_configured',
    `Unknown provider "${name}". Expected one of ${known.join(', ')}.`,
    { provider: name, known },
    [{ action: 'Use the offline model.', command: 'hawser run --provider rehearsal "Hello"' }],
  )
}

/** Loaded when bytes are described for the first time. */
export const lazyDescribe: Describe = async (bytes, media_type) =>
  (await import('../resources/describe.ts')).describe(bytes, media_type)
