import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import { isJsonObject } from '../../../src/encoding/json.ts'
import { schemaCheck, type SchemaCheck } from './schema-check.ts'

/** The dialects of vendors. */
export type VendorDialect = 'messages' | 'responses' | 'chat'

/** The requests that a vendor accepts, by the types of its SDK. */
export interface VendorRequests {
  readonly messages: MessageCreateParamsStreaming
  readonly responses: ResponseCreateParamsStreaming
  readonly chat: ChatCompletionCreateParamsStreaming
}

/** The check of a dialect's requests, read and compiled on first use. */
export const requestCheck: {
  readonly [Name in VendorDialect]: () => Promise<SchemaCheck<VendorRequests[Name]>>
} = {
  messages: once(async () => {
    const schema = await import('../../vendor-schemas/messages.request.json', {
      with: { type: 'json' },
    })
    return schemaCheck(schema.default)
  }),
  responses: once(async () => {
    const schema = await import('../../vendor-schemas/responses.request.json', {
      with: { type: 'json' },
    })
    return schemaCheck(schema.default)
  }),
  chat: once(async () => {
    const schema = await import('../../vendor-schemas/chat.request.json', {
      with: { type: 'json' },
    })
    return schemaCheck(schema.default)
  }),
}

/** The types describe a streaming request; a request without streaming has no other difference. */
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
