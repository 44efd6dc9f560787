/** How a model backend on the network is reached. */
export interface RemoteAccess {
  /** Variables of the environment: they belong together, and go before what is stored. */
  readonly key_variable: string
  readonly url_variable: string
  /** The vendor's own place, where a key goes that comes without a base URL. */
  readonly own_url: string
  /** A server may be another's than the vendor's, and then it may want no key. */
  readonly any_server: boolean
}

const OPENAI = {
  key_variable: 'OPENAI_API_KEY',
  url_variable: 'OPENAI_BASE_URL',
  own_url: 'https://api.openai.com/v1',
} as const

/** Every model backend on the network, in the order in which a key for it is looked for. */
export const REMOTE_PROVIDERS = {
  anthropic: {
    key_variable: 'ANTHROPIC_API_KEY',
    url_variable: 'ANTHROPIC_BASE_URL',
    own_url: 'https://api.anthropic.com',
    any_server: false,
  },
  openai: { ...OPENAI, any_server: false },
  'openai-chat': { ...OPENAI, any_server: true },
} as const satisfies Record<string, RemoteAccess>

export type RemoteProvider = keyof typeof REMOTE_PROVIDERS

export function isRemoteProvider(name: string): name is RemoteProvider {
  return Object.hasOwn(REMOTE_PROVIDERS, name)
}

/** How Responses can travel: over a socket where one works and HTTP where none does, or in one way only. */
export const TRANSPORTS = ['auto', 'websocket', 'http-sse'] as const
export type Transport = (typeof TRANSPORTS)[number]

/** The model that needs neither network nor key. */
export const OFFLINE_PROVIDER = 'rehearsal'
