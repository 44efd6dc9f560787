/** How a remote provider is reached. */
export interface RemoteAccess {
  /** Environment variables. They belong together and take precedence over stored settings. */
  readonly key_variable: string
  readonly url_variable: string
  /** The vendor's own URL, the default base URL for a key. */
  readonly own_url: string
  /** Compatible servers of others are supported; they may need no key. */
  readonly any_server: boolean
}

const OPENAI = {
  key_variable: 'OPENAI_API_KEY',
  url_variable: 'OPENAI_BASE_URL',
  own_url: 'https://api.openai.com/v1',
} as const

/** Every remote provider, in the order in which keys are looked for. */
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

/** How a request reaches its model. The Log stores it as text. */
export type RequestTransport = 'in-process' | 'http-sse' | 'websocket'

/** Transports of the Responses API: a WebSocket with HTTP as fallback, or only one of them. */
export const TRANSPORTS = ['auto', 'websocket', 'http-sse'] as const satisfies readonly (
  | 'auto'
  | RequestTransport
)[]
export type Transport = (typeof TRANSPORTS)[number]

/** The model that needs neither network nor key. */
export const OFFLINE_PROVIDER = 'rehearsal'
