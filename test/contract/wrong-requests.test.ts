import { expect, test } from 'vitest'
import { openRehearsal, type RehearsalVendor } from '../support/providers/rehearsal-server.ts'
import type { VendorDialect } from '../support/providers/vendor-schemas.ts'
import { NOT_IN_THE_TYPES, VENDOR_CASES } from './vendor-cases.ts'
import { RIGHT_CHAT, WRONG_CHAT } from './wrong-chat.ts'
import { RIGHT_MESSAGES, WRONG_MESSAGES } from './wrong-messages.ts'
import type { WrongRequest } from './wrong-requests.ts'
import { RIGHT_RESPONSES, WRONG_RESPONSES } from './wrong-responses.ts'

const PATHS: Readonly<Record<VendorDialect, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}

const TABLES: Readonly<Record<VendorDialect, readonly [object, readonly WrongRequest[]]>> = {
  messages: [RIGHT_MESSAGES, WRONG_MESSAGES],
  responses: [RIGHT_RESPONSES, WRONG_RESPONSES],
  chat: [RIGHT_CHAT, WRONG_CHAT],
}

async function post({ origin }: RehearsalVendor, dialect: VendorDialect, body: object) {
  const response = await fetch(origin + PATHS[dialect], {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer any',
      ...(dialect === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}),
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as unknown }
}

/** An error in the vendor's format; anything else unchanged. */
function errorIn(dialect: VendorDialect, body: unknown): unknown {
  if (dialect === 'messages') {
    const { type, error, request_id } = body as {
      readonly type: string
      readonly error: { readonly type: string; readonly message: string }
      readonly request_id: string
    }
    const [at = '', ...rest] = error.message.split(': ')
    const place = rest.length === 0 ? '' : at
    return { type, error: error.type, at: place, id: /^req_\w{24}$/.test(request_id) }
  }
  const { error } = body as { error: Record<string, unknown> }
  const { message, ...rest } = error
  return { ...rest, message: String(message).startsWith(`${String(rest['param'])}: `) }
}

function expected(dialect: VendorDialect, [, , at, code]: WrongRequest): unknown {
  const type = 'invalid_request_error'
  return dialect === 'messages'
    ? { type: 'error', error: type, at, id: true }
    : { type, param: at, code, message: true }
}

for (const dialect of ['messages', 'responses', 'chat'] as const) {
  const [right, wrong] = TABLES[dialect]

  test(`a valid request is answered, streamed or not: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    expect(await post(vendor, dialect, right)).toMatchObject({ status: 200 })
    const streamed = await fetch(vendor.origin + PATHS[dialect], {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer any',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify({ ...right, stream: true }),
    })
    expect(streamed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect((await streamed.text()).split('\n\n').length).toBeGreaterThan(5)
    await vendor.close()
  })

  test(`every kind of invalid request is refused as the vendor refuses it: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    const answers: unknown[] = []
    for (const [why, body] of wrong) {
      const { status, body: answer } = await post(vendor, dialect, body)
      answers.push([why, status, status === 400 ? errorIn(dialect, answer) : answer])
    }
    expect(answers).toEqual(wrong.map((row) => [row[0], 400, expected(dialect, row)]))
    expect(new Set(wrong.map(([why]) => why)).size).toBeGreaterThanOrEqual(30)
    await expect(vendor.close()).rejects.toThrow('refused requests')
  })

  test(`bodies that the SDK types exclude, and those that they miss, are refused: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    // Streaming is optional.
    const shapes = VENDOR_CASES[dialect].filter(
      ([, ...errors]) => errors.length > 0 && errors.every((error) => !/\bstream\b/.test(error)),
    )
    const bodies = [...shapes.map(([body]) => body), ...NOT_IN_THE_TYPES[dialect]]
    for (const body of bodies) {
      expect([body, (await post(vendor, dialect, body)).status]).toEqual([body, 400])
    }
  })
}
