import type { BaseAnthropic } from '@anthropic-ai/sdk'
import { boundFetch } from './bound-fetch.ts'
import type { ProviderOptions, Send } from './call.ts'
import { ENDPOINTS, requestHeaders } from './endpoints.ts'

/** Loads the SDK on the first request: most commands never send one. */
export function anthropicSender(options: ProviderOptions): Send {
  let loaded: Promise<BaseAnthropic> | undefined
  return async (body, signal) => {
    loaded ??= clientOf(options)
    const client = await loaded
    return client.post(ENDPOINTS.messages.path, { body, signal }).asResponse()
  }
}

/** Sets every option that the SDK would otherwise read from the environment. */
async function clientOf(options: ProviderOptions): Promise<BaseAnthropic> {
  // The base client only sends requests. The full one has a class for every resource of the API and takes four times as long to load.
  const { BaseAnthropic: Client } = await import('@anthropic-ai/sdk')
  const send = boundFetch(options)
  const headers = requestHeaders('messages', options.key)
  return new Client({
    apiKey: options.key ?? '',
    authToken: null,
    webhookKey: null,
    baseURL: options.baseUrl,
    // The SDK may take headers from the environment and replace the key in them; these replace all of them.
    fetch: (url, init) => send(url, { ...init, headers }),
    maxRetries: 0,
    timeout: LONGEST_TIMER_MS,
    logLevel: 'off',
    openTelemetry: false,
  })
}

/** Effectively no timeout: the code that reads the answer enforces the limits. */
const LONGEST_TIMER_MS = 2_147_483_647
