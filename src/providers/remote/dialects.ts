import type { RemoteProvider } from '../../model/remote-providers.ts'
import type { ProviderOptions } from '../call.ts'
import type { ResponsesOptions } from '../responses/stream.ts'

/** The dialect of each remote provider. */
export const DIALECT_OF = {
  anthropic: 'messages',
  openai: 'responses',
  'openai-chat': 'chat',
} as const satisfies Record<RemoteProvider, keyof typeof DIALECTS>

/** Each is loaded on first use. */
export const DIALECTS = {
  messages: {
    dialect: () => import('../messages/encode.ts'),
    provider: async (options: ProviderOptions) =>
      (await import('../messages/stream.ts')).messagesProvider(options),
  },
  responses: {
    dialect: () => import('../responses/encode.ts'),
    provider: async (options: ResponsesOptions) =>
      (await import('../responses/stream.ts')).responsesProvider(options),
  },
  chat: {
    dialect: () => import('../chat/encode.ts'),
    provider: async (options: ProviderOptions) =>
      (await import('../chat/stream.ts')).chatProvider(options),
  },
}

export function isDialect(name: string): name is keyof typeof DIALECTS {
  return Object.hasOwn(DIALECTS, name)
}
