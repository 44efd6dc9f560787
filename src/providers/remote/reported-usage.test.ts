import { expect, test } from 'vitest'
import { VENDOR_DIALECTS } from '../../../test/support/providers/dialects.ts'
import { eventsOf } from '../../../test/support/providers/vendor-answer.ts'
import { usageReader } from './reported-usage.ts'

const USAGE = { input: 1_000, cached_read: 200, cache_write: 100, output: 50, reasoning: 10 }

test.each(VENDOR_DIALECTS)('the usage of a stream in %s is what its reader reports', (dialect) => {
  const reader = usageReader(dialect)
  const events = eventsOf(dialect, { text: 'Hello there', usage: USAGE })
  for (const event of events) reader.take(event)
  expect(reader.lastReport).toEqual({ usage: USAGE, final: true })
})

test.each(VENDOR_DIALECTS)('the usage of a stream in %s is not final before its end', (dialect) => {
  const reader = usageReader(dialect)
  const events = eventsOf(dialect, { text: 'Hello there', usage: USAGE })
  for (const event of events.slice(0, 3)) reader.take(event)
  expect(reader.lastReport?.final).not.toBe(true)
  const input = dialect === 'messages' ? 1_000 : undefined
  expect(reader.lastReport?.usage.input).toBe(input)
})

test.each([
  ['messages', { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 3 }, 8],
  ['responses', { input_tokens: 5, output_tokens: 7 }, 5],
  ['chat', { prompt_tokens: 5, completion_tokens: 7 }, 5],
] as const)('the usage of a whole answer in %s is read', (dialect, usage, input) => {
  const reader = usageReader(dialect)
  reader.take({ id: 'x', usage })
  expect(reader.lastReport).toMatchObject({ usage: { input, output: 7 }, final: true })
})

test.each(VENDOR_DIALECTS)('anything else in %s is ignored', (dialect) => {
  const reader = usageReader(dialect)
  const odd = [null, 1, 'usage', [], {}, { usage: null }, { usage: { input_tokens: -1 } }]
  for (const value of [...odd, { usage: { prompt_tokens: 'x' } }, { message: { usage: 3 } }]) {
    reader.take(value)
  }
  expect(reader.lastReport?.usage.input ?? 0).toBe(0)
})
