import { describe, expect, test } from 'vitest'
import { DIALECTS, VENDOR_DIALECTS } from '../../../test/support/providers/dialects.ts'
import { accessTo } from '../../../test/support/tether/relay-place.ts'
import { isJsonObject, parseJson } from '../../encoding/json.ts'
import type { Surface } from '../../model/surface.ts'
import { BodyJudge, ceilingRefusal, headRefusal, priceRefusal, type RequestHead } from './judge.ts'
import { NO_SPEND } from './rules.ts'

const access = accessTo('messages', 'https://example.invalid')
const PATH = '/v1/messages'

function head(changes: Partial<RequestHead> = {}, headers: Record<string, string> = {}) {
  const all: Record<string, string> = { 'content-type': 'application/json', ...headers }
  return {
    method: 'POST',
    path: PATH,
    scheme: 'http',
    authority: 'relay',
    header: (name: string) => all[name],
    ...changes,
  }
}

describe('the head of a request', () => {
  test('is accepted for the only allowed call', () => {
    expect(headRefusal(head(), PATH)).toBeUndefined()
    const utf8 = { 'content-type': 'application/json; charset=utf-8' }
    expect(headRefusal(head({}, utf8), PATH)).toBeUndefined()
  })

  const REFUSED: [string, Partial<RequestHead>, Record<string, string>?][] = [
    ['GET', { method: 'GET' }],
    ['PUT', { method: 'PUT' }],
    ['post in lower case', { method: 'post' }],
    ['CONNECT', { method: 'CONNECT', path: '', scheme: '' }],
    ['another path', { path: '/v1/files' }],
    ['a query', { path: `${PATH}?beta=true` }],
    ['an empty query', { path: `${PATH}?` }],
    ['a fragment', { path: `${PATH}#` }],
    ['a trailing slash', { path: `${PATH}/` }],
    ['a path below', { path: `${PATH}/batches` }],
    ['a parent path', { path: '/v1/x/../messages' }],
    ['an encoded path', { path: '/v1/%6dessages' }],
    ['an encoded slash', { path: '/v1%2fmessages' }],
    ['two slashes', { path: `/${PATH}` }],
    ['a whole URL', { path: `http://relay${PATH}` }],
    ['another authority', { authority: 'example.invalid' }],
    ['a user in the authority', { authority: 'a@relay' }],
    ['a port', { authority: 'relay:80' }],
    ['no authority', { authority: '' }],
    ['https', { scheme: 'https' }],
    ['text', {}, { 'content-type': 'text/plain' }],
    ['no content type', {}, { 'content-type': '' }],
    ['two content types', {}, { 'content-type': 'application/json, text/plain' }],
    ['another charset', {}, { 'content-type': 'application/json; charset=utf-16' }],
    ['a compressed body', {}, { 'content-encoding': 'gzip' }],
  ]
  test.each(REFUSED)('is refused for %s', (...[, changes, headers]) => {
    expect(headRefusal(head(changes, headers), PATH)).toMatchObject({
      status: 403,
      code: 'relay_refused',
    })
  })

  test('is described without control characters, in a bounded length', () => {
    const refused = headRefusal(head({ path: `/\u001b[31m\u202e${'x'.repeat(100_000)}` }), PATH)
    expect(refused?.message).toMatch(/^[ -~…]{1,300}$/)
  })
})

/** The model of a body, or why it is refused, however the body is cut into chunks. */
function judged(body: Buffer, rules: ConstructorParameters<typeof BodyJudge>[0]) {
  const [whole, ...others] = [body.length, 1, 7].map((size) => {
    const judge = new BodyJudge(rules)
    for (let at = 0; at < body.length; at += size) {
      const refused = judge.push(body.subarray(at, at + size))
      if (refused !== undefined) return refused
    }
    return judge.end() ?? { model: judge.model }
  })
  // The reason may be another one: the first that is known.
  for (const other of others) expect({ ...other, message: '' }).toEqual({ ...whole, message: '' })
  return whole
}

describe('the body of a request', () => {
  const judge = (text: string) => judged(Buffer.from(text), { models: ['model', 'größe'], access })

  test('names a model of the list', () => {
    expect(judge('{"model":"model","messages":[{"model":"other"}]}')).toEqual({ model: 'model' })
    expect(judge(' {"messages":[], "model" : "größe"} ')).toEqual({ model: 'größe' })
  })

  const REFUSED = [
    '',
    'null',
    '["model"]',
    '{}',
    '{"messages":[{"model":"model"}]}',
    '{"model":"other"}',
    '{"model":"Model"}',
    '{"model":"model "}',
    '{"model":["model"]}',
    '{"model":{"model":"model"}}',
    '{"model":null}',
    '{"model":"m\\u006fdel"}',
    '{"mod\\u0065l":"model"}',
    '{"model":"model","mod\\u0065l":"other"}',
    '{"model":"model","model":"other"}',
    '{"model":"other","model":"model"}',
    '{"model":"model","model":"model"}',
    '{"model":"model","Model":"other"}',
    '{"model":"model","MODEL":"other"}',
    '{"model":"model","models":["other"]}',
    '{"model":"model","mcp_servers":[]}',
    '{"model":"model","service_tier":"priority"}',
    '{"model":"model","messages":[],"messages":[]}',
    '{"model":"model"}{"model":"other"}',
    '{"model":"model"},',
    '{"model":"model",}',
    '{"model":"model","system":"\\"}',
    "{'model':'other','model':\"model\"}",
    '{"model":"model"/*,"model":"other"*/}',
    '\uFEFF{"model":"model"}',
  ]
  test.each(REFUSED)('is refused: %s', (text) => {
    expect(judge(text)).toMatchObject({ status: 403, code: 'relay_refused' })
  })

  test('is refused as soon as nothing that follows can change it, and its model is known early', () => {
    const early = (text: string) => {
      const own = new BodyJudge({ models: ['model'], access })
      return own.push(Buffer.from(text))?.code ?? own.model
    }
    expect(early('{"model":"mod')).toBeUndefined()
    expect(early('{"model":"model","messages":[{"x":"')).toBe('model')
    expect(early('{"model":"model","mcp_servers"')).toBe('relay_refused')
    expect(early('{"model":"model","model"')).toBe('relay_refused')
    expect(early('{"model":"other"')).toBe('relay_refused')
    expect(early('{"model":"model","messages":[}')).toBe('relay_refused')
  })

  test('is refused with the models that are allowed', () => {
    expect(judge('{"model":"other"}')).toMatchObject({
      message: 'The relay refused model "other"; allowed: model, größe.',
    })
  })

  test.each(VENDOR_DIALECTS)('is accepted if %s encoded it with every parameter', (dialect) => {
    const surface: Surface = {
      contract_version: 'hw1',
      model: 'model',
      system: ['Be brief.'],
      tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object' } }],
      params: {
        replay: 'window',
        late_role: 'system',
        tool_choice: 'auto',
        limits: { output_tokens: 100 },
        effort: 'high',
        reasoning: true,
        cache_key: true,
      },
    }
    const TEXT = { type: 'text', text: 'Hello', lifetime: 'stable' } as const
    const { encode, buildBody } = DIALECTS[dialect]
    const item = { kind: 'user', seq: 1, parts: [TEXT] } as const
    const body = buildBody(encode([item], surface), { cacheKey: 'key', marks: [] })
    const { fields } = accessTo(dialect, 'https://example.invalid/v1')
    const rules = { models: ['model'], access: { ...access, fields } }
    expect(judged(body, rules)).toEqual({ model: 'model' })
    const known = parseJson(body.toString())
    // No field is listed that is never sent.
    expect(Object.keys(isJsonObject(known) ? known : {}).toSorted()).toEqual([...fields].toSorted())
  })
})

describe('the spending limit', () => {
  const rules = { access }

  test('allows calls until it is reached', () => {
    expect(ceilingRefusal({ ceilingUsd: undefined }, { ...NO_SPEND, usd: 1e9 })).toBeUndefined()
    expect(ceilingRefusal({ ceilingUsd: 1 }, { ...NO_SPEND, usd: 0.999 })).toBeUndefined()
    expect(ceilingRefusal({ ceilingUsd: 0 }, NO_SPEND)).toMatchObject({ status: 402 })
  })

  test('is reported with the figures', () => {
    const spend = { ...NO_SPEND, usd: 2.345678, estimatedUsd: 0.01 }
    expect(ceilingRefusal({ ceilingUsd: 2 }, spend)).toEqual({
      status: 402,
      code: 'relay_ceiling',
      message:
        'This instance has spent $2.35, of which $0.0100 is estimated; its spending limit is $2.00.',
    })
  })

  test('needs the price of the model', () => {
    expect(priceRefusal({ ...rules, ceilingUsd: 1 }, 'model')).toBeUndefined()
    expect(priceRefusal(rules, 'other')).toBeUndefined()
    expect(priceRefusal({ ...rules, ceilingUsd: 1 }, 'other')).toMatchObject({
      code: 'relay_refused',
    })
  })
})
