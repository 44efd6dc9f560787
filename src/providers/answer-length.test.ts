import { expect, test } from 'vitest'
import {
  eventsOf,
  type VendorAnswer,
  type VendorEvent,
} from '../../test/support/providers/vendor-answer.ts'
import type { VendorDialect } from '../../test/support/providers/vendor-schemas.ts'
import type { AnswerReader } from './answer-reader.ts'
import { chatReader } from './chat/stream.ts'
import { messagesReader } from './messages/stream.ts'
import { responsesReader } from './responses/stream.ts'

const READERS: Readonly<Record<VendorDialect, () => AnswerReader>> = {
  messages: messagesReader,
  responses: responsesReader,
  chat: chatReader,
}

const MiB = 1024 * 1024

/** The type of the last event that the reader returns, or the kind of its error. */
function endOf(dialect: VendorDialect, events: readonly VendorEvent[]): string {
  const reader = READERS[dialect]()
  const returned = events.flatMap((event) =>
    reader.take({ event: 'message', data: JSON.stringify(event) }),
  )
  const last = returned.at(-1)
  return last?.type === 'error' ? last.error.kind : (last?.type ?? 'nothing')
}

const PARTS: [string, (length: number) => VendorAnswer][] = [
  ['text', (length) => ({ text: 'a'.repeat(length) })],
  ['reasoning', (length) => ({ reasoning: 'a'.repeat(length), text: 'Yes.' })],
  ['arguments', (length) => ({ calls: [call(JSON.stringify({ a: 'a'.repeat(length) }))] })],
  ['arguments of eight calls', (length) => ({ calls: eightCalls(length / 8) })],
]

const CASES = (['messages', 'responses', 'chat'] as const).flatMap((dialect) =>
  PARTS.filter(([part]) => dialect !== 'chat' || part !== 'reasoning').map(
    ([part, of]) => [dialect, part, of] as const,
  ),
)

test.each(CASES)(
  '%s: an answer with more %s than any model writes is refused',
  (dialect, _part, of) => {
    expect(endOf(dialect, eventsOf(dialect, of(MiB / 4)))).toBe('done')
    expect(endOf(dialect, eventsOf(dialect, of(3 * MiB)))).toBe('invalid_response')
  },
)

test('an answer may have any number of events; only their total length is limited', () => {
  const [first, ...rest] = eventsOf('chat', { text: 'a' })
  if (first === undefined) throw new Error('no event')
  const delta = { content: 'word '.repeat(50) }
  const words = (count: number) =>
    Array.from({ length: count }, () => ({ ...first, choices: [{ index: 0, delta }] }))
  expect(endOf('chat', [first, ...words(8_000), ...rest])).toBe('done')
  expect(endOf('chat', [first, ...words(9_000), ...rest])).toBe('invalid_response')
})

test('items that arrive complete, without deltas, count too', () => {
  const item = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'a'.repeat(MiB) }
  const done = (output_index: number) => ({ type: 'response.output_item.done', output_index, item })
  expect(endOf('responses', [done(0)])).toBe('item')
  expect(endOf('responses', [done(0), done(1)])).toBe('invalid_response')
})

function call(json: string, id = 'call_1') {
  return { id, name: 'read', arguments: json }
}

function eightCalls(length: number) {
  const json = JSON.stringify({ a: 'a'.repeat(length) })
  return Array.from({ length: 8 }, (_, i) => call(json, `call_${i}`))
}
