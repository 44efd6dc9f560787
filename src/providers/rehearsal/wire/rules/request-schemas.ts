import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import { isJsonObject } from '../../../../encoding/json.ts'
import { schemaCheck, type SchemaCheck } from './schema-check.ts'

/** The dialects that are a vendor's. */
export type VendorDialect = 'messages' | 'responses' | 'chat'

/** What a vendor takes, by the types of its SDK. */
export interface VendorRequests {
  readonly messages: MessageCreateParamsStreaming
  readonly responses: ResponseCreateParamsStreaming
  readonly chat: ChatCompletionCreateParamsStreaming
}

/** The check of a dialect's requests, read and compiled when it is first asked for. */
export const requestCheck: {
  readonly [Name in VendorDialect]: () => Promise<SchemaCheck<VendorRequests[Name]>>
} = {
  messages: once(async () => {
    const schema = await import('../vendor-schemas/messages.request.json', {
      with: { type: 'json' },
    })
    return schemaCheck(schema.default)
  }),
  responses: once(async () => {
    const schema = await import('../vendor-schemas/responses.request.json', {
      with: { type: 'json' },
    })
    return schemaCheck(schema.default)
  }),
  chat: once(async () => {
    const schema = await import('../vendor-schemas/chat.request.json', { with: { type: 'json' } })
    return schemaCheck(schema.default)
  }),
}

/** The types tell of a request that streams; one that does not differs in nothing else. */
export function streaming(body: unknown): unknown {
  if (!isJsonObject(body)) return body
  const { stream = false } = body
  return stream === false || stream === null ? { ...body, stream: true } : body
}

export function wantsStream(body: unknown): boolean {
  return isJsonObject(body) && body['stream'] === true
}

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => (loaded ??= load())
}
