import { expect, test } from 'vitest'
import { sseOf, type VendorAnswer } from '../../test/support/providers/vendor-answer.ts'
import type { VendorDialect } from '../../test/support/providers/vendor-schemas.ts'
import { ServerSentEvents } from '../encoding/server-sent-events.ts'
import { chatReader } from './chat/stream.ts'
import { messagesReader } from './messages/stream.ts'
import type { ProviderEvent } from './provider.ts'
import { responsesReader } from './responses/stream.ts'

const READERS = { messages: messagesReader, responses: responsesReader, chat: chatReader }
const CALL = { id: 'call_1', name: 'read', arguments: '{"path":"a"}' }
const HALF = { id: 'call_2', name: 'write', arguments: '{"pa' }

/** The end of an answer with a stop reason that the vendor's types do not include. */
function endOf(dialect: VendorDialect, answer: VendorAnswer, stop?: string): string {
  const known = LIMIT_WORDS[dialect]
  const text = sseOf(dialect, stop === undefined ? answer : { ...answer, stop: known }).toString()
  const bytes = stop === undefined ? text : text.replaceAll(`"${known}"`, JSON.stringify(stop))
  const reader = READERS[dialect]()
  const events = new ServerSentEvents()
    .push(Buffer.from(bytes))
    .flatMap((event) => [...reader.take(event)])
  return wordsOf(events)
}

const LIMIT_WORDS = { messages: 'max_tokens', responses: 'max_output_tokens', chat: 'length' }

function wordsOf(events: readonly ProviderEvent[]): string {
  const calls = events.filter((event) => event.type === 'item' && event.item.kind === 'tool_call')
  const last = events.at(-1)
  if (last?.type === 'error') return last.error.kind
  if (last?.type !== 'done') return 'none'
  const { cut, isPaused = false } = last
  const how = cut === undefined ? 'whole' : `${cut.reason} lost ${cut.lost_calls}`
  return `${how}${isPaused ? ' paused' : ''}, ran ${calls.length}`
}

test.each<[VendorDialect, string | undefined, VendorAnswer, string]>([
  // Messages: every reason in the vendor's types, and an unknown one.
  ['messages', 'end_turn', { text: 'a' }, 'whole, ran 0'],
  ['messages', 'tool_use', { calls: [CALL] }, 'whole, ran 1'],
  ['messages', 'tool_use', { text: 'a' }, 'lost_call lost 1, ran 0'],
  ['messages', 'max_tokens', { text: 'a' }, 'output_limit lost 0, ran 0'],
  ['messages', 'max_tokens', { reasoning: 'a' }, 'output_limit lost 0, ran 0'],
  ['messages', 'max_tokens', { text: 'a', calls: [HALF] }, 'output_limit lost 1, ran 0'],
  ['messages', 'max_tokens', { calls: [CALL, HALF] }, 'output_limit lost 1, ran 1'],
  ['messages', 'stop_sequence', { text: 'a' }, 'whole, ran 0'],
  ['messages', 'stop_sequence', { calls: [HALF] }, 'lost_call lost 1, ran 0'],
  ['messages', 'pause_turn', { text: 'a' }, 'whole paused, ran 0'],
  ['messages', 'pause_turn', {}, 'invalid_response'],
  ['messages', 'refusal', { text: 'a' }, 'refused'],
  ['messages', 'model_context_window_exceeded', { text: 'a' }, 'context_overflow'],
  ['messages', 'of_later', { text: 'a' }, 'unknown_reason lost 0, ran 0'],
  ['messages', 'of_later', { text: 'a', calls: [HALF] }, 'unknown_reason lost 1, ran 0'],
  // Chat Completions, and reasons of compatible servers.
  ['chat', 'stop', { text: 'a' }, 'whole, ran 0'],
  ['chat', 'stop', { calls: [CALL] }, 'whole, ran 1'],
  ['chat', 'tool_calls', { calls: [CALL] }, 'whole, ran 1'],
  ['chat', 'tool_calls', { text: 'a' }, 'lost_call lost 1, ran 0'],
  ['chat', 'function_call', { text: 'a' }, 'lost_call lost 1, ran 0'],
  ['chat', 'length', { text: 'a' }, 'output_limit lost 0, ran 0'],
  ['chat', 'length', { text: 'a', calls: [CALL, HALF] }, 'output_limit lost 2, ran 0'],
  ['chat', 'LENGTH', { text: 'a' }, 'output_limit lost 0, ran 0'],
  ['chat', 'max_tokens', { text: 'a' }, 'output_limit lost 0, ran 0'],
  ['chat', 'eos', { text: 'a' }, 'whole, ran 0'],
  ['chat', 'content_filter', { text: 'a' }, 'refused'],
  ['chat', 'of_later', { text: 'a', calls: [HALF] }, 'unknown_reason lost 1, ran 0'],
  // Responses.
  ['responses', undefined, { text: 'a', calls: [CALL] }, 'whole, ran 1'],
  ['responses', 'max_output_tokens', { text: 'a' }, 'output_limit lost 0, ran 0'],
  ['responses', 'max_output_tokens', { text: 'a', calls: [HALF] }, 'output_limit lost 1, ran 0'],
  ['responses', 'content_filter', { text: 'a' }, 'refused'],
  ['responses', 'of_later', { text: 'a' }, 'unknown_reason lost 0, ran 0'],
])('%s: %s at the end of %j is %s', (dialect, stop, answer, expected) => {
  expect(endOf(dialect, answer, stop)).toBe(expected)
})
