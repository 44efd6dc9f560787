import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import {
  openRehearsal,
  type RehearsalVendor,
} from '../../test/support/providers/rehearsal-server.ts'
import { strictServer } from '../../test/support/providers/strict-server.ts'
import { virtualClock } from '../../test/support/host/virtual-clock.ts'
import { systemClock } from '../../src/host/clock.ts'
import { SWITCHES } from './faults.ts'
import type { VendorDialect } from './rules/request-schemas.ts'

const PATHS: Readonly<Record<VendorDialect, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}
const DIALECTS = ['messages', 'responses', 'chat'] as const

const BODIES: Readonly<Record<VendorDialect, object>> = {
  messages: { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }] },
  responses: { model: 'm', input: 'Hello' },
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
}

const HEADERS = {
  'content-type': 'application/json',
  authorization: 'Bearer any',
  'anthropic-version': '2023-06-01',
}

interface Request {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

async function send(vendor: RehearsalVendor, dialect: VendorDialect, request: Request = {}) {
  const { path = PATHS[dialect], method = 'POST', headers = HEADERS } = request
  const body = 'body' in request ? request.body : JSON.stringify(BODIES[dialect])
  const answer = await fetch(vendor.origin + path, {
    method,
    headers,
    ...(body === undefined || method === 'GET' ? {} : { body }),
  })
  return { status: answer.status, headers: answer.headers, body: await answer.text() }
}

/** The type, code and parameter of an error. */
function errorIn(dialect: VendorDialect, { status, body }: { status: number; body: string }) {
  const parsed = JSON.parse(body) as { error: Record<string, unknown> }
  const { type, code, param } = parsed.error
  return dialect === 'messages' ? { status, type } : { status, type, code, param }
}

const INVALID = 'invalid_request_error'

function refusal(dialect: VendorDialect, status: number, type: string, code: string | null) {
  return dialect === 'messages' ? { status, type } : { status, type: INVALID, code, param: null }
}

for (const dialect of DIALECTS) {
  test(`a request without a key is refused as the vendor refuses it: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    for (const authorization of ['', 'Bearer', 'Basic abc']) {
      const answer = await send(vendor, dialect, { headers: { ...HEADERS, authorization } })
      expect(errorIn(dialect, answer)).toEqual(
        refusal(dialect, 401, 'authentication_error', 'invalid_api_key'),
      )
    }
    const keyed = { ...HEADERS, authorization: '', 'x-api-key': 'any' }
    expect((await send(vendor, dialect, { headers: keyed })).status).toBe(200)
  })

  test(`paths and methods that do not exist are refused as the vendor refuses them: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    const headers =
      dialect === 'messages'
        ? HEADERS
        : { 'content-type': 'application/json', authorization: 'Bearer any' }
    const lost = await send(vendor, dialect, { path: '/v1/nowhere', headers })
    expect(errorIn(dialect, lost)).toEqual(refusal(dialect, 404, 'not_found_error', null))
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const other = await send(vendor, dialect, { method })
      expect(errorIn(dialect, other)).toEqual(
        refusal(dialect, 405, INVALID, 'method_not_supported'),
      )
      expect(other.headers.get('allow')).toBe('POST')
    }
  })

  test(`a body that is not JSON, or not declared as JSON, is refused: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    const twice = `{"model":"a",${JSON.stringify(BODIES[dialect]).slice(1)}`
    const halved = JSON.stringify(BODIES[dialect]).replace('Hello', '\\ud800')
    const deep = `{"model":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    for (const body of [
      '',
      '{',
      '[1,',
      'null and void',
      new Uint8Array([0xff]),
      twice,
      halved,
      deep,
    ]) {
      const answer = await send(vendor, dialect, { body })
      expect([body, errorIn(dialect, answer)]).toEqual([body, refusal(dialect, 400, INVALID, null)])
    }
    const untyped = { ...HEADERS, 'content-type': 'text/plain' }
    expect((await send(vendor, dialect, { headers: untyped })).status).toBe(400)
    for (const body of ['null', '[]', '"a"', '1']) {
      expect((await send(vendor, dialect, { body })).status).toBe(400)
    }
  })

  test(`a body that is too large is refused as the vendor refuses it: ${dialect}`, async () => {
    const vendor = await openRehearsal({ longest: 10_000 })
    const body = JSON.stringify({ ...BODIES[dialect], more: 'a'.repeat(10_000) })
    const answer = await send(vendor, dialect, { body })
    expect(errorIn(dialect, answer)).toEqual(
      refusal(dialect, 413, 'request_too_large', 'request_too_large'),
    )
    expect((await send(vendor, dialect)).status).toBe(200)
  })

  test(`a refusal is reported in one short text without the key of the client: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    const key = 'sk-0123456789'
    const headers = { ...HEADERS, authorization: `Bearer ${key}` }
    const body = JSON.stringify({ ...BODIES[dialect], [`${key}${'x'.repeat(1000)}`]: 1 })
    await send(vendor, dialect, { path: `/~strict${PATHS[dialect]}`, headers, body })
    await send(vendor, dialect)
    const [refused, answered] = vendor.requests
    expect(refused?.reason).toMatch(/^\[redacted key\]x+…$/)
    expect(Buffer.byteLength(refused?.reason ?? '')).toBeLessThanOrEqual(300)
    expect([answered?.status, answered?.reason]).toEqual([200, undefined])
  })

  test(`an unknown switch is refused, and the known ones are named: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    const answer = await send(vendor, dialect, { path: `/~explode${PATHS[dialect]}` })
    expect(answer.status).toBe(400)
    for (const name of SWITCHES) expect(answer.body).toContain(name)
  })

  test(`an answer that a \`once\` switch breaks is complete the next time: ${dialect}`, async () => {
    const clock = virtualClock()
    const vendor = await openRehearsal({ clock: { ...clock, now: () => systemClock.now() } })
    const path = `/~status:529,retry-after:3,once${PATHS[dialect]}`
    const first = await send(vendor, dialect, { path })
    expect([first.status, first.headers.get('retry-after')]).toEqual([529, '3'])
    expect((await send(vendor, dialect, { path })).status).toBe(200)
    await expect(send(vendor, dialect, { path: `/~close,once${PATHS[dialect]}` })).rejects.toThrow(
      'fetch failed',
    )
    const late = send(vendor, dialect, { path: `/~delay:500${PATHS[dialect]}` })
    while (clock.pending().length === 0) await new Promise((resolve) => void setImmediate(resolve))
    clock.advance(500)
    expect((await late).status).toBe(200)
    expect(vendor.requests.map(({ status }) => status)).toEqual([529, 200, 0, 200])
  })

  test(`a client that disconnects during a request or an answer affects no other client: ${dialect}`, async () => {
    const vendor = await openRehearsal()
    const { port: digits, pathname } = new URL(vendor.origin)
    const port = Number(digits)
    const body = JSON.stringify({ ...BODIES[dialect], stream: true })
    const head = [
      `POST ${pathname}${PATHS[dialect]} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      ...Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${body.length}`,
    ].join('\r\n')
    for (const sent of [body.slice(0, 10), body]) {
      const socket = connect(port, '127.0.0.1')
      socket.write(`${head}\r\n\r\n${sent}`)
      if (sent === body) await once(socket, 'data')
      socket.resetAndDestroy()
    }
    expect((await send(vendor, dialect)).status).toBe(200)
  })
}

test('Messages requires its version header', async () => {
  const vendor = await openRehearsal()
  const headers = { 'content-type': 'application/json', authorization: 'Bearer any' }
  const answer = await send(vendor, 'messages', { headers })
  expect(errorIn('messages', answer)).toEqual({ status: 400, type: INVALID })
})

test('models are listed in the format of each vendor, and any name is accepted', async () => {
  const vendor = await openRehearsal()
  const get = async (path: string, headers: Record<string, string>) => {
    const answer = await send(vendor, 'chat', { path, method: 'GET', headers })
    return JSON.parse(answer.body) as unknown
  }
  const key = { authorization: 'Bearer any' }
  const anthropic = { ...key, 'anthropic-version': '2023-06-01' }
  expect(await get('/v1/models', key)).toMatchObject({
    object: 'list',
    data: expect.arrayContaining([
      { id: 'rehearsal', object: 'model', created: 0, owned_by: 'rehearsal' },
    ]) as unknown,
  })
  expect(await get('/v1/models', anthropic)).toMatchObject({
    has_more: false,
    first_id: 'rehearsal',
    data: expect.arrayContaining([
      expect.objectContaining({ type: 'model', id: 'claude-opus-5-5' }),
    ]) as unknown,
  })
  expect(await get('/v1/models/mine', key)).toMatchObject({ id: 'mine', object: 'model' })
  expect(await get('/v1/models/mine', anthropic)).toMatchObject({ id: 'mine', type: 'model' })
  expect(await get('/v1/models', {})).toMatchObject({ error: { code: 'invalid_api_key' } })
})

test('tokens are counted without an answer, and equal those of the answer', async () => {
  const vendor = await openRehearsal()
  const { max_tokens: _limit, ...body } = BODIES.messages as Record<string, unknown>
  const path = '/v1/messages/count_tokens'
  const count = await send(vendor, 'messages', { path, body: JSON.stringify(body) })
  const answer = JSON.parse((await send(vendor, 'messages')).body) as {
    usage: { input_tokens: number }
  }
  expect(JSON.parse(count.body)).toEqual({ input_tokens: answer.usage.input_tokens })
  const limited = await send(vendor, 'messages', { path })
  expect(errorIn('messages', limited)).toEqual({ status: 400, type: INVALID })
})

test('a prompt over the limit of a switch or of its model is refused as too long', async () => {
  const vendor = await openRehearsal()
  const long = JSON.stringify({ model: 'm', input: 'word '.repeat(1000) })
  const over = await send(vendor, 'responses', { path: '/~overflow:1000/v1/responses', body: long })
  expect(errorIn('responses', over)).toEqual({
    status: 400,
    type: INVALID,
    code: 'context_length_exceeded',
    param: null,
  })
  expect((await send(vendor, 'responses', { body: long })).status).toBe(200)
  const window = JSON.stringify({ model: 'gpt-5.2', input: 'word '.repeat(400_000) })
  expect((await send(vendor, 'responses', { body: window })).status).toBe(400)
})

test('an exception of the model is an error in the format of the vendor', async () => {
  const vendor = await openRehearsal({
    brain: async () => {
      throw new Error('a defect')
    },
  })
  const answer = await send(vendor, 'messages')
  expect(errorIn('messages', answer)).toEqual({ status: 500, type: 'api_error' })
})

test('a port in use is reported', async () => {
  const vendor = await openRehearsal()
  const port = Number(new URL(vendor.origin).port)
  expect(await strictServer({ port })).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', details: { port } },
  })
})
