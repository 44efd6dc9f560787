import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openRehearsal } from '../support/providers/rehearsal-server.ts'
import type { VendorDialect } from '../support/providers/vendor-schemas.ts'
import { WRONG_CHAT } from './wrong-chat.ts'
import { WRONG_MESSAGES } from './wrong-messages.ts'
import { WRONG_RESPONSES } from './wrong-responses.ts'

/** A request, and its result in each mode: `taken`, or the position that the refusal names. */
interface Vector {
  readonly why: string
  readonly dialect: VendorDialect
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
  readonly lenient: string
  readonly strict: string
}

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/lenient-requests.json', import.meta.url), 'utf8'),
) as readonly Vector[]

const PATHS: Readonly<Record<VendorDialect, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}
const BETAS: Readonly<Record<VendorDialect, Readonly<Record<string, string>>>> = {
  messages: { 'anthropic-beta': 'any-2026-01-01' },
  responses: { 'openai-beta': 'any=v1' },
  chat: { 'openai-beta': 'any=v1' },
}
const WRONG = { messages: WRONG_MESSAGES, responses: WRONG_RESPONSES, chat: WRONG_CHAT }

type Sent = Pick<Vector, 'dialect' | 'headers' | 'body'>

/** `taken`, or the position that the refusal names. */
async function outcomeAt(origin: string, { dialect, headers, body }: Sent): Promise<string> {
  const response = await fetch(origin + PATHS[dialect], {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer any',
      ...(dialect === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}),
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const { error } = (await response.json()) as {
    readonly error?: { readonly message: string; readonly param?: string | null }
  }
  if (!error) return response.status === 200 ? 'taken' : String(response.status)
  return dialect === 'messages' ? (error.message.split(': ')[0] ?? '') : (error.param ?? '')
}

test.each(VECTORS)('$dialect, $why: lenient $lenient, strict $strict', async (vector) => {
  const { origin, lenientOrigin } = await openRehearsal({ lenient: true })
  expect({
    lenient: await outcomeAt(lenientOrigin, vector),
    strict: await outcomeAt(origin, vector),
  }).toEqual({ lenient: vector.lenient, strict: vector.strict })
})

test.each(['messages', 'responses', 'chat'] as const)(
  'a beta excuses unknown fields only, and every other wrong request is refused as before: %s',
  async (dialect) => {
    const vendor = await openRehearsal({ lenient: true })
    const differing: string[] = []
    for (const [why, body] of WRONG[dialect]) {
      const sent = { dialect, body, headers: BETAS[dialect] }
      const strict = await outcomeAt(vendor.origin, sent)
      const code = vendor.requests.at(-1)?.refusal?.code
      const lenient = await outcomeAt(vendor.lenientOrigin, sent)
      if (lenient !== strict && code !== 'unknown_parameter') differing.push(why)
    }
    expect(differing).toEqual([])
  },
)
