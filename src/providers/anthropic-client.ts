import type { BaseAnthropic } from '@anthropic-ai/sdk'
import { boundFetch } from './bound-fetch.ts'
import type { ProviderOptions, Send } from './call.ts'

/** The SDK is loaded when something is sent for the first time: most of what this program does needs none. */
export function anthropicSender(path: string, options: ProviderOptions): Send {
  let loaded: Promise<BaseAnthropic> | undefined
  return async (body, signal) => {
    loaded ??= clientOf(options)
    const client = await loaded
    return client.post(path, { body, signal }).asResponse()
  }
}

/** Everything that the SDK would look for in the environment is given, so that it takes nothing from there. */
async function clientOf(options: ProviderOptions): Promise<BaseAnthropic> {
  // That which only sends: the whole one brings a class for every resource of the vendor, four times as much to load.
  const { BaseAnthropic: Client } = await import('@anthropic-ai/sdk')
  const send = boundFetch(options)
  const headers = headersOf(options)
  return new Client({
    apiKey: options.key ?? '',
    authToken: null,
    webhookKey: null,
    baseURL: options.baseUrl,
    // The environment may add headers, and replace the key in them; these take the place of all.
    fetch: (url, init) => send(url, { ...init, headers }),
    maxRetries: 0,
    timeout: LONGEST_TIMER_MS,
    logLevel: 'off',
    openTelemetry: false,
  })
}

/** How long to wait is decided where the answer is read. */
const LONGEST_TIMER_MS = 2_147_483_647

/** That of the SDK: what is written and read here is of this version. */
const API_VERSION = '2026-10-21'

function headersOf({ key }: ProviderOptions): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'hawser',
    'anthropic-version': API_VERSION,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
}
