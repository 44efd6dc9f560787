import type { OpenAI } from 'openai'
import { boundFetch } from './bound-fetch.ts'
import type { ProviderOptions, Send } from './call.ts'
import { ENDPOINTS, requestHeaders } from './endpoints.ts'

/** Sends bodies in one dialect. Loads the SDK on the first request. */
export function openaiSender(dialect: 'responses' | 'chat', options: ProviderOptions): Send {
  const client = onceLoaded(options)
  const { path } = ENDPOINTS[dialect]
  return async (body, signal) => (await client()).post(path, { body, signal }).asResponse()
}

/** Creates the client on the first call and returns the same one afterwards. */
export function onceLoaded(options: ProviderOptions): () => Promise<OpenAI> {
  let loaded: Promise<OpenAI> | undefined
  return () => (loaded ??= clientOf(options))
}

/** Sets every option that the SDK would otherwise read from the environment. */
async function clientOf(options: ProviderOptions): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai')
  const send = boundFetch(options)
  // Both dialects of this vendor have the same headers.
  const headers = requestHeaders('responses', options.key)
  return new Client({
    // The SDK rejects an empty key. The key that is sent is in the headers below.
    apiKey: options.key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: options.baseUrl,
    // The SDK may take headers from the environment and replace the key in them; these replace all of them.
    fetch: (url, init) => send(url, { ...init, headers }),
    maxRetries: 0,
    timeout: LONGEST_TIMER_MS,
    logLevel: 'off',
  })
}

/** Effectively no timeout: the code that reads the answer enforces the limits. */
const LONGEST_TIMER_MS = 2_147_483_647
