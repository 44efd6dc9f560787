import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { eventErrors, requestErrors, vendorSchema } from '../support/providers/vendor-schemas.ts'
import { NOT_IN_THE_TYPES, VENDOR_CASES } from './vendor-cases.ts'

const SDKS = { messages: '@anthropic-ai/sdk', responses: 'openai', chat: 'openai' } as const
const DIALECTS = ['messages', 'responses', 'chat'] as const

for (const dialect of DIALECTS) {
  test(`the schemas match the installed SDK (otherwise: npm run vendor-schemas): ${dialect}`, async () => {
    const manifest = new URL(`../../node_modules/${SDKS[dialect]}/package.json`, import.meta.url)
    const { name, version } = JSON.parse(await readFile(manifest, 'utf8')) as Record<string, string>
    for (const kind of ['request', 'event'] as const) {
      expect(vendorSchema(dialect, kind).$comment).toBe(`${name}@${version}`)
    }
  })
}

for (const dialect of DIALECTS) {
  test(`valid requests pass, and invalid ones are reported with the reason: ${dialect}`, () => {
    for (const [body, ...errors] of VENDOR_CASES[dialect]) {
      expect([body, requestErrors(dialect, body)]).toEqual([
        body,
        errors.map((error) => expect.stringContaining(error) as unknown),
      ])
    }
    expect(
      VENDOR_CASES[dialect].filter(([, ...errors]) => errors.length > 0).length,
    ).toBeGreaterThan(15)
  })
  test(`what the types do not exclude passes, and needs other checks: ${dialect}`, () => {
    for (const body of NOT_IN_THE_TYPES[dialect]) {
      expect([body, requestErrors(dialect, body)]).toEqual([body, []])
    }
  })
}

test('an event that no vendor sends is reported with the reason', () => {
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }
  expect(eventErrors('messages', delta)).toEqual([])
  expect(eventErrors('messages', { ...delta, index: '0' })).toEqual([
    '/index is string, not number',
  ])
  expect(eventErrors('messages', { ...delta, delta: { type: 'text_delta' } })).toEqual([
    '/delta lacks text',
  ])
  const done = {
    type: 'response.output_text.done',
    item_id: 'i',
    output_index: 0,
    content_index: 0,
    sequence_number: 0,
    text: 'a',
  }
  expect(eventErrors('responses', done)).toEqual(['the value lacks logprobs'])
  expect(eventErrors('responses', { ...done, logprobs: [] })).toEqual([])
  const chunk = { id: 'i', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] }
  expect(eventErrors('chat', chunk)).toEqual([])
  expect(eventErrors('chat', { ...chunk, object: 'chat.completion' })).toEqual([
    '/object is "chat.completion", not "chat.completion.chunk"',
  ])
})

test('no schema has a field that exists only in an SDK', () => {
  const { definitions = {} } = vendorSchema('responses', 'event')
  expect(Object.keys(definitions['Response']?.properties ?? {})).toContain('output')
  expect(Object.keys(definitions['Response']?.properties ?? {})).not.toContain('output_text')
})
