import type { DialectName } from './provider.ts'

/** Where and how a request of a dialect is sent. */
export interface Endpoint {
  /** Appended to the base URL. */
  readonly path: string
  /** Headers of this dialect only. */
  readonly headers: Readonly<Record<string, string>>
  /** Every top-level field that a body may have. */
  readonly fields: readonly string[]
}

export type RemoteDialect = Exclude<DialectName, 'rehearsal'>

export const ENDPOINTS = {
  messages: {
    path: '/v1/messages',
    // The API version of the SDK: requests and events here follow this version.
    headers: { 'anthropic-version': '2026-10-21' },
    fields: [
      'model',
      'max_tokens',
      'stream',
      'tool_choice',
      'thinking',
      'output_config',
      'tools',
      'system',
      'messages',
    ],
  },
  responses: {
    path: '/responses',
    headers: {},
    fields: [
      'model',
      'stream',
      'store',
      'tool_choice',
      'parallel_tool_calls',
      'include',
      'reasoning',
      'prompt_cache_key',
      'instructions',
      'tools',
      'input',
    ],
  },
  chat: {
    path: '/chat/completions',
    headers: {},
    fields: [
      'model',
      'stream',
      'stream_options',
      'tool_choice',
      'store',
      'reasoning_effort',
      'prompt_cache_key',
      'tools',
      'messages',
    ],
  },
} as const satisfies Record<RemoteDialect, Endpoint>

/** All headers of a request; without a key, none authorizes it. */
export function requestHeaders(
  dialect: RemoteDialect,
  key: string | undefined,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'hawser',
    ...ENDPOINTS[dialect].headers,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
}
