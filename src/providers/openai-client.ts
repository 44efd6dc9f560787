import type { OpenAI } from 'openai'
import { boundFetch } from './bound-fetch.ts'
import type { ProviderOptions, Send } from './call.ts'

/** Sends bodies to one path of a server, by the vendor's SDK, which is loaded when something is sent for the first time. */
export function openaiSender(path: string, options: ProviderOptions): Send {
  const client = onceLoaded(options)
  return async (body, signal) => (await client()).post(path, { body, signal }).asResponse()
}

/** The client, made when it is first asked for. */
export function onceLoaded(options: ProviderOptions): () => Promise<OpenAI> {
  let loaded: Promise<OpenAI> | undefined
  return () => (loaded ??= clientOf(options))
}

/** Everything that the SDK would look for in the environment is given, so that it takes nothing from there. */
async function clientOf(options: ProviderOptions): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai')
  const send = boundFetch(options)
  const headers = headersOf(options)
  return new Client({
    // It takes no empty one. What is sent stands in the headers.
    apiKey: options.key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: options.baseUrl,
    // The environment may add headers, and replace the key in them; these take the place of all.
    fetch: (url, init) => send(url, { ...init, headers }),
    maxRetries: 0,
    timeout: LONGEST_TIMER_MS,
    logLevel: 'off',
  })
}

/** How long to wait is decided where the answer is read. */
const LONGEST_TIMER_MS = 2_147_483_647

function headersOf({ key }: ProviderOptions): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'hawser',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
}
