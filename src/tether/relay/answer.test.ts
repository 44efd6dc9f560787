import { describe, expect, test } from 'vitest'
import { VENDOR_DIALECTS } from '../../../test/support/providers/dialects.ts'
import { accessTo } from '../../../test/support/tether/relay-place.ts'
import { sseOf } from '../../../test/support/providers/vendor-answer.ts'
import { UsageTap } from './answer.ts'

const USAGE = { input: 1_000, cached_read: 200, cache_write: 100, output: 50, reasoning: 10 }
const STREAM = 'text/event-stream; charset=utf-8'

function tapOf(dialect: (typeof VENDOR_DIALECTS)[number], type: string, chunks: readonly Buffer[]) {
  const tap = new UsageTap(accessTo(dialect, 'https://example.invalid').usageReader(), type)
  for (const chunk of chunks) tap.push(chunk)
  return tap
}

describe.each(VENDOR_DIALECTS)('the usage in an answer of %s', (dialect) => {
  const stream = sseOf(dialect, { text: 'Hello there', usage: USAGE })

  test.each([1, 7, 1_000_000])('is read from chunks of %i bytes', (size) => {
    const chunks: Buffer[] = []
    for (let at = 0; at < stream.length; at += size) chunks.push(stream.subarray(at, at + size))
    const tap = tapOf(dialect, STREAM, chunks)
    tap.end()
    expect([tap.bytes, tap.lastReport]).toEqual([stream.length, { usage: USAGE, final: true }])
  })

  test('is not final if the stream was cut', () => {
    const tap = tapOf(dialect, STREAM, [stream.subarray(0, stream.length / 2)])
    expect(tap.lastReport?.final).not.toBe(true)
  })

  test('is read from one JSON value, whose end must be known', () => {
    const usage = { input_tokens: 5, output_tokens: 7, prompt_tokens: 5, completion_tokens: 7 }
    const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(1000), usage }))
    const tap = tapOf(dialect, 'application/json', [body.subarray(0, 500), body.subarray(500)])
    expect(tap.lastReport).toBeUndefined()
    tap.end()
    expect(tap.lastReport).toMatchObject({ usage: { input: 5, output: 7 }, final: true })
  })

  test('is unknown if the JSON value is too long to be kept', () => {
    const usage = '"usage":{"input_tokens":5,"output_tokens":7}'
    const tap = tapOf(dialect, 'application/json', [
      Buffer.from(`{${usage},"text":"${'x'.repeat(1024 * 1024)}"}`),
    ])
    tap.end()
    expect(tap.lastReport).toBeUndefined()
  })
})
